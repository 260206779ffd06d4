// The codec against its recorded answers: what codes stand for, each stage, the samples, whole and
// piece by piece. Each stage is compared by itself, so that a failure says which one differs.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "engine/codec.h"
#include "golden/reference.h"
#include "model/weights.h"

namespace tokamak::golden {
namespace {

const std::string kFolder = TOKAMAK_TEST_DATA "/speech/nanocodec";
/// The tolerance of samples, from -1 to 1; torch's own f32 is up to 3e-6 away from its f64.
constexpr double kTolerance = 1e-4;

class CodecGolden : public testing::TestWithParam<DeviceSetup> {
 protected:
  void SetUp() override {
    require_device(GetParam());
    if (IsSkipped() || HasFatalFailure()) return;
    golden_ = read_json(kFolder + "/golden.json");
    auto arrays = open_safetensors_file(kFolder + "/golden.safetensors");
    ASSERT_TRUE(arrays) << arrays.error().message;
    arrays_ = *std::move(arrays);
    std::unique_ptr<Codec>& own = opened_[GetParam().name];
    if (own == nullptr) own = open(kFolder);
    codec_ = own.get();
    ASSERT_NE(codec_, nullptr);
  }
  static void TearDownTestSuite() { opened_.clear(); }

  std::unique_ptr<Codec> open(const std::string& model) const {
    OpenOptions options = GetParam().options;
    options.model = model;
    auto codec = Codec::open(options);
    if (codec) return *std::move(codec);
    ADD_FAILURE() << codec.error().message;
    return nullptr;
  }

  const Json::Array& cases() const { return golden_.find("cases")->as_array(); }
  std::vector<float> array(const Json& one, const char* field) const {
    return recorded(arrays_, one.find(field)->as_string());
  }

  /// [frames, groups], recorded group by group.
  static std::vector<uint32_t> codes_of(const Json& one) {
    const Json::Array& groups = one.find("codes")->as_array();
    std::vector<uint32_t> codes(groups.size() * groups[0].as_array().size());
    for (size_t g = 0; g < groups.size(); ++g) {
      const std::vector<uint32_t> own = ids_of(groups[g]);
      for (size_t t = 0; t < own.size(); ++t) codes[t * groups.size() + g] = own[t];
    }
    return codes;
  }

  static void expect_near(std::span<const float> expected, std::span<const float> actual) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(actual[i], expected[i], kTolerance) << "sample " << i;
    }
  }

  Json golden_;
  TensorFile arrays_;
  Codec* codec_ = nullptr;
  /// One for all tests of a setup: most of their time is a driver's, which compiles.
  inline static std::map<std::string, std::unique_ptr<Codec>> opened_;
};

TEST_P(CodecGolden, CodesStandForTheRecordedNumbers) {
  for (const Json& one : cases()) {
    const auto latents = codec_->model().latents(codes_of(one));
    ASSERT_TRUE(latents);
    const std::vector<float> expected = array(one, "latent");  // [numbers, frames]
    const size_t frames = codes_of(one).size() / codec_->groups();
    const size_t numbers = expected.size() / frames;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ((*latents)[i], expected[i % numbers * frames + i / numbers]) << i;
    }
  }
}

/// The codec up to the end of residual layer `index`: what the half-snake after it reads.
CodecModel up_to_residual_layer(CodecModel model, size_t index) {
  model.stages.resize(index + 2);
  Graph& last = model.stages.back().graph;
  std::optional<ValueId> layer;
  for (const Node& node : last.nodes) {
    if (std::holds_alternative<Scale>(node.op)) layer = node.outputs[0];
  }
  EXPECT_TRUE(layer);
  last.result = layer.value_or(last.result);
  remove_unused(last);
  model.samples_per_frame = 1;
  for (size_t i = 0; i <= index; ++i) model.samples_per_frame *= model.stages[i].rate;
  return model;
}

TEST_P(CodecGolden, StagesAreAsRecorded) {
  const auto files = read_model_files(kFolder);
  ASSERT_TRUE(files);
  const auto backend = open_backend(GetParam().options);
  ASSERT_TRUE(backend);
  const auto constants = [&](const TensorDesc& constant, Share share, const WriteBytes& write) {
    return read_constant(files->tensors, constant, share, write);
  };
  const Json::Array& recorded_stages = cases()[0].find("stages")->as_array();
  for (size_t i = 0; i < recorded_stages.size(); ++i) {
    SCOPED_TRACE(fmt::format("residual layer {}", i));
    const CodecModel model = up_to_residual_layer(codec_->model(), i);
    const auto part = CodecRunner::compile(model, (*backend)->device(), {});
    ASSERT_TRUE(part) << part.error().message;
    const auto runner = CodecRunner::open(model, part->plan, **backend, constants);
    ASSERT_TRUE(runner) << runner.error().message;
    for (const Json& one : cases()) {
      const Json::Array& stages = one.find("stages")->as_array();
      auto rows = (*runner)->decode(codes_of(one), 0);
      ASSERT_TRUE(rows) << rows.error().message;
      const std::vector<uint32_t> shape = ids_of(*stages[i].find("shape"));  // [columns, rows]
      ASSERT_EQ(rows->size(), size_t{shape[0]} * shape[1]);
      double sum = 0, squares = 0;
      for (const float value : *rows) {
        sum += value;
        squares += double(value) * value;
      }
      const auto count = double(rows->size());
      EXPECT_NEAR(sum / count, stages[i].find("mean")->as_number(), kTolerance);
      EXPECT_NEAR(std::sqrt(squares / count), stages[i].find("rms")->as_number(), kTolerance);
      const std::vector<float> first = floats_of(*stages[i].find("first"));
      expect_near(first, std::span(*rows).first(first.size()));
    }
  }
}

TEST_P(CodecGolden, SamplesAreAsRecorded) {
  for (const Json& one : cases()) {
    const auto samples = codec_->decode(codes_of(one));
    ASSERT_TRUE(samples) << samples.error().message;
    const std::vector<float> expected = array(one, "waveform");
    ASSERT_NO_FATAL_FAILURE(expect_near(expected, *samples));
    float error = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      error = std::max(error, std::abs(expected[i] - (*samples)[i]));
    }
    fmt::print("codec nanocodec {}: within {:.1e}\n", GetParam().name, error);
  }
}

TEST_P(CodecGolden, NemosFileGivesTheSameBits) {
  const auto codec = open(kFolder + "/tiny-codec.nemo");
  ASSERT_NE(codec, nullptr);
  const auto folder = codec_->decode(codes_of(cases()[0]));
  const auto nemo = codec->decode(codes_of(cases()[0]));
  ASSERT_TRUE(folder && nemo);
  EXPECT_EQ(*nemo, *folder);
}

TEST_P(CodecGolden, PiecesAreBitByBitTheWhole) {
  // Long enough for pieces without their beginning, and for more than one step of the whole.
  std::vector<uint32_t> codes;
  for (const Json& one : cases()) {
    const std::vector<uint32_t> own = codes_of(one);
    codes.insert(codes.end(), own.begin(), own.end());
  }
  for (int i = 0; i < 2; ++i) codes.insert(codes.end(), codes.begin(), codes.begin() + 80);
  const uint32_t groups = codec_->groups();
  const auto frames = uint32_t(codes.size() / groups);
  ASSERT_GT(frames, codec_->context_frames() + 32);
  const auto whole = codec_->decode(codes);
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_EQ(whole->size(), size_t{frames} * codec_->samples_per_frame());
  std::vector<float> pieces;
  uint32_t done = 0;
  for (const uint32_t wanted : {1u, 5u, 2u, 11u, 1u, 25u, 1000u}) {
    const uint32_t count = std::min(wanted, frames - done);
    const uint32_t context = std::min(done, codec_->context_frames());
    const auto own =
        std::span(codes).subspan((done - context) * groups, (context + count) * groups);
    const auto samples = codec_->decode(own, context);
    ASSERT_TRUE(samples) << samples.error().message;
    pieces.insert(pieces.end(), samples->begin(), samples->end());
    done += count;
  }
  EXPECT_EQ(pieces, *whole);
}

TEST_P(CodecGolden, ReportsWhatIsWrongWithCodes) {
  const auto message = [&](const std::vector<uint32_t>& codes, uint32_t context) {
    const auto samples = codec_->decode(codes, context);
    return samples ? "" : samples.error().message;
  };
  EXPECT_EQ(message({}, 0), "");
  EXPECT_EQ(message({1, 2, 3, 4, 5}, 0),
            "There are 5 codes, expected a multiple of 4: whole frames.");
  EXPECT_EQ(message({1, 2, 3, 4}, 2),
            "There are 1 frames, expected at least the 2 of the context.");
  EXPECT_EQ(message({1, 2, 3, 120}, 0),
            "Group 3 of frame 0 has the code 120, expected one below 120.");
}

std::vector<DeviceSetup> codec_setups() {
  std::vector<DeviceSetup> chosen;
  for (const DeviceSetup& setup : setups()) {
    for (const char* name : {"cpu", "cpu_fast", "webgpu_f32", "webgpu_plain", "cuda_f16"}) {
      if (setup.name == name) chosen.push_back(setup);
    }
  }
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(, CodecGolden, testing::ValuesIn(codec_setups()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tokamak::golden
