#include "formats/nemo.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "formats/archive.h"
#include "formats/nemo_writer_test.h"
#include "formats/torch_pickle.h"
#include "formats/yaml.h"

namespace tokamak {
namespace {

std::string gzip_of(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = uInt(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = uInt(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::vector<float> floats(const NemoFile& nemo, const char* name) {
  const TensorInfo* const info = nemo.tensors.find(name);
  EXPECT_NE(info, nullptr);
  std::vector<float> out(6);
  if (info == nullptr) return out;
  EXPECT_EQ(info->shape, (std::vector<uint64_t>{2, 3}));
  const auto bytes = nemo.tensors.data(*info);
  EXPECT_TRUE(bytes && bytes->size() == 24);
  if (bytes) std::memcpy(out.data(), bytes->data(), 24);
  return out;
}

TEST(Nemo, ReadsWeightsWhereTheyAre) {
  for (const std::string& text : {small_nemo(), gzip_of(small_nemo())}) {
    const auto nemo = read_nemo(source_of(text));
    ASSERT_TRUE(nemo) << nemo.error().message;
    EXPECT_EQ(nemo->config.find("sample_rate")->as_integer(), 8000);
    EXPECT_EQ(nemo->tensors.tensors().size(), 2u);
    EXPECT_EQ(floats(*nemo, "a"), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(floats(*nemo, "b"), (std::vector<float>{6, 7, 8, 9, 10, 11}));
  }
}

std::string message(const std::string& text) {
  const auto nemo = read_nemo(source_of(text));
  return nemo ? "" : nemo.error().message;
}

std::string with_pickle(const std::string& pickle) {
  return tar_of({{"model_config.yaml", "a: 1\n"},
                 {"model_weights.ckpt",
                  zip_of({{"x/data.pkl", pickle}, {"x/data/0", std::string(48, '\0')}})}});
}

TEST(Nemo, ReportsWhatIsMissing) {
  EXPECT_EQ(message(""), "model.nemo: There is no file \"model_config.yaml\" in the archive.");
  EXPECT_EQ(message(tar_of({{"model_config.yaml", "a: 1"}})),
            "model.nemo: There is no file \"model_weights.ckpt\" in the archive.");
  EXPECT_EQ(message(tar_of({{"model_config.yaml", ""}, {"./model_config.yaml", ""}})),
            "model.nemo: There are several files \"model_config.yaml\".");
  EXPECT_EQ(message(tar_of({{"model_config.yaml", "a: 1"}, {"model_weights.ckpt", zip_of({})}})),
            "model.nemo: \"model_weights.ckpt\" has no data.pkl: torch.save has not written it.");
}

TEST(Nemo, ReportsWhatOfTheArchivesIsDamaged) {
  const std::string whole = small_nemo();
  EXPECT_EQ(message(std::string(600, 'x')),
            "model.nemo: There is no header of a tar archive at byte 0.");
  EXPECT_EQ(message(whole.substr(0, 1600)), "model.nemo: \"./model_weights.ckpt\" claims " +
                                                std::to_string(small_weights().size()) +
                                                " bytes, but only 64 are left in the file.");
  const std::string packed = gzip_of(whole);
  EXPECT_EQ(message(packed.substr(0, packed.size() / 2)),
            "model.nemo: It is packed by gzip, and ends too early.");
  std::string damaged = packed;
  damaged[30] = char(damaged[30] ^ 0x55);
  EXPECT_EQ(message(damaged), "model.nemo: It is packed by gzip, and damaged.");
  const auto with_weights = [](const std::string& weights) {
    return message(tar_of({{"model_config.yaml", "a: 1"}, {"model_weights.ckpt", weights}}));
  };
  EXPECT_EQ(with_weights("no zip"),
            "model.nemo: \"model_weights.ckpt\" is no zip archive: it has no end of one.");
  EXPECT_EQ(
      with_weights(zip_of({{"x/data.pkl", "abc"}}, 8)),
      "model.nemo: \"model_weights.ckpt\": \"x/data.pkl\" is compressed; expected files stored "
      "as they are.");
  std::string zip = zip_of({{"x/data.pkl", small_pickle()}});
  const size_t list = zip.rfind(raw(uint32_t{0x02014b50}));
  zip.replace(list + 20, 8, raw(uint32_t{1u << 30}) + raw(uint32_t{1u << 30}));
  EXPECT_EQ(
      with_weights(zip),
      "model.nemo: \"model_weights.ckpt\": \"x/data.pkl\" goes beyond the end of the archive.");
}

TEST(Nemo, RefusesTensorsThatDoNotFitTheirStorage) {
  const auto of = [](const std::string& tensor) {
    return message(with_pickle(pickled_state(pickled_text("w") + tensor)));
  };
  EXPECT_EQ(of(pickled_tensor("FloatStorage", 12, 6)), "");
  EXPECT_NE(of(pickled_tensor("FloatStorage", 12, 7)).find("a tensor goes beyond its storage"),
            std::string::npos);
  EXPECT_NE(of(pickled_tensor("FloatStorage", 12, 0, 4)).find("do not follow one another"),
            std::string::npos);
  EXPECT_EQ(
      of(pickled_tensor("FloatStorage", 13, 0)),
      "model.nemo: Tensor \"w\": its storage \"0\" has 48 bytes, expected 13 elements of f32.");
  EXPECT_EQ(of(pickled_tensor("LongStorage", 6, 0)), "");
}

TEST(TorchPickle, RunsNothingThatItDoesNotKnow) {
  const auto error = [](const std::string& pickle) {
    const auto read = read_torch_pickle(bytes_of(pickle));
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(error(pickled_state("")), "");
  const std::string attack =
      "\x80\x02" + std::string("cos\nsystem\n") + pickled_text("ls") + "\x85R.";
  EXPECT_EQ(
      error(attack),
      "The pickle names os.system, which this engine does not run: it reads tensors of floats "
      "and integers only.");
  EXPECT_EQ(error(""),
            "The pickle is not one of a module's state: at byte 0, it ends within something.");
  EXPECT_EQ(
      error("\x80\x02."),
      "The pickle is not one of a module's state: at byte 2, the result is not a dictionary.");
  EXPECT_EQ(error("\x80\x05."),
            "The pickle is not one of a module's state: at byte 0, it is not of "
            "protocol 2.");
  EXPECT_EQ(error("\x80\x02]."),
            "The pickle is not one of a module's state: at byte 2, the opcode 0x5d "
            "is not known.");
  EXPECT_NE(error("\x80\x02t").find("there is no mark"), std::string::npos);
  EXPECT_NE(error("\x80\x02h\x07").find("there is no value 7"), std::string::npos);
  EXPECT_EQ(error(pickled_state(pickled_text("w") + "K\x01")), "\"w\" of the pickle is no tensor.");
  std::string deep = "\x80\x02)";
  for (int i = 0; i < 1000; ++i) deep += "\x85";
  EXPECT_NE(error(deep).find("too deep"), std::string::npos);
}

TEST(Yaml, IsReadAsJson) {
  const auto json = parse_yaml(
      "a: 1\nb: [2, 3.5, -4e1]\nc:\n  d: true\n  e: '7'\n  f:\n  g: word\nlist:\n- x\n- {y: "
      "null}\n");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->dump(),
            R"({"a": 1, "b": [2, 3.5, -40], "c": {"d": true, "e": "7", "f": null, "g": "word"},)"
            R"( "list": ["x", {"y": null}]})");
}

TEST(Yaml, ReportsTheLineOfWhatIsWrong) {
  const auto error = [](const std::string& text) {
    const auto json = parse_yaml(text);
    return json ? json->dump() : json.error().message;
  };
  EXPECT_EQ(error(""), "Line 1: a value is missing.");
  EXPECT_EQ(error("a: 1\nb: [1, 2\n"), "Line 3: did not find expected ',' or ']'.");
  EXPECT_EQ(error("a: &x 1\nb: *x\n"), "Line 2: aliases are not read.");
  EXPECT_EQ(error("? [1]\n: 2\n"), "Line 1: a key is not a text.");
  EXPECT_EQ(error(std::string(1000, '[')), "Line 1: values are too deep within values.");
}

}  // namespace
}  // namespace tokamak
