// GGUF files, whole, split and damaged. The damages are those of the malformed containers, and the
// classes of mistakes that had CVE numbers in other readers.
#include "formats/gguf.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "formats/native_files.h"
#include "formats/unread.h"

namespace tokamak {
namespace {

constexpr uint64_t kHuge = uint64_t{1} << 60;

/// Bytes of a file, little end first.
struct Bytes {
  std::string text;

  template <typename T>
  Bytes& number(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& string(std::string_view value) {
    number(uint64_t(value.size()));
    text += value;
    return *this;
  }
  Bytes& raw(std::string_view value) {
    text += value;
    return *this;
  }
};

struct Tensor {
  std::string name;
  std::vector<uint64_t> extents;  // innermost first
  uint32_t type = 0;
  uint64_t offset = 0;
};

/// A GGUF file that tests damage before they ask for its bytes.
struct File {
  std::string magic = "GGUF";
  uint32_t version = 3;
  std::optional<uint64_t> tensor_count, entry_count;
  std::vector<std::string> entries;
  std::vector<Tensor> tensors = {{"a", {2, 3}, 0, 0}, {"b", {32}, 8, 32}};
  size_t data_bytes = 32 + 34;
  size_t alignment = 32;

  File() {
    entry("general.architecture", GgufType::kString, Bytes().string("test").text);
    entry("test.count", GgufType::kU32, Bytes().number(7u).text);
  }
  File& entry(std::string_view key, GgufType type, std::string_view value) {
    entries.push_back(Bytes().string(key).number(uint32_t(type)).raw(value).text);
    return *this;
  }
  File& array(std::string_view key, GgufType type, uint64_t count, std::string_view elements) {
    return entry(key, GgufType::kArray,
                 Bytes().number(uint32_t(type)).number(count).raw(elements).text);
  }
  std::string bytes() const {
    Bytes out;
    out.raw(magic).number(version);
    out.number(tensor_count.value_or(tensors.size())).number(entry_count.value_or(entries.size()));
    for (const std::string& entry : entries) out.raw(entry);
    for (const Tensor& tensor : tensors) {
      out.string(tensor.name).number(uint32_t(tensor.extents.size()));
      for (const uint64_t extent : tensor.extents) out.number(extent);
      out.number(tensor.type).number(tensor.offset);
    }
    if (data_bytes != 0) out.text.resize((out.text.size() + alignment - 1) / alignment * alignment);
    for (size_t i = 0; i < data_bytes; ++i) out.text += char(i);
    return out.text;
  }
};

std::shared_ptr<ByteSource> source_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return memory_source("m", {bytes.begin(), bytes.end()});
}

Result<GgufFile> read(std::string_view text) {
  TOK_TRY(GgufPart part, read_gguf_part(source_of(text)));
  std::vector<GgufPart> parts;
  parts.push_back(std::move(part));
  return join_gguf_parts(std::move(parts));
}

std::string message(std::string_view text) {
  auto result = read(text);
  return result ? "no error" : result.error().message;
}
std::string message(const File& file) {
  return message(file.bytes());
}

/// Changes a file before it is read.
template <typename Change>
std::string damaged(Change change) {
  File file;
  change(file);
  return message(file);
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Gguf, ReadsNamesTypesShapesAndBytes) {
  const auto file = read(File().bytes());
  ASSERT_TRUE(file) << file.error().message;
  const TensorInfo* a = file->tensors.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(describe(*a), "f32[3, 2]");
  EXPECT_EQ(a->bytes, 24u);
  const TensorInfo* b = file->tensors.find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(describe(*b), "q8_0[32]");
  const auto data = file->tensors.data(*b);
  ASSERT_TRUE(data);
  ASSERT_EQ(data->size(), 34u);
  EXPECT_EQ((*data)[0], std::byte{32});
}

TEST(Gguf, CountsTheBlocksOfEveryPackedType) {
  const std::pair<uint32_t, uint64_t> cases[] = {
      {2, 18 * 8}, {3, 20 * 8}, {6, 22 * 8},  {7, 24 * 8},  {8, 34 * 8},  {12, 144},
      {13, 176},   {14, 210},   {10, 84},     {11, 110},    {20, 18 * 8}, {23, 136},
      {34, 54},    {35, 66},    {39, 17 * 8}, {41, 18 * 2}, {42, 18 * 4}};
  for (const auto& [type, bytes] : cases) {
    File file;
    file.tensors = {{"a", {256, 3}, type, 0}};
    file.data_bytes = 1000;
    const auto read_file = read(file.bytes());
    ASSERT_TRUE(read_file) << read_file.error().message;
    EXPECT_EQ(read_file->tensors.find("a")->bytes, 3 * bytes) << type;
  }
}

TEST(Gguf, ChecksThatTextsAreUtf8) {
  const auto text = [](std::string_view value) { return Bytes().string(value).text; };
  File file;
  file.entry("general.name", GgufType::kString, text("cut \xE6\x97"))
      .entry("general.author", GgufType::kString, text("\xFF\xFE"))
      .array("general.tags", GgufType::kString, 2, text("a") + text("\xE6\x97"));
  const auto read_file = read(file.bytes());
  ASSERT_TRUE(read_file) << read_file.error().message;
  const GgufMetadata& metadata = read_file->metadata;
  EXPECT_EQ(*metadata.values().find("general.name"), Json("cut \uFFFD"));
  EXPECT_EQ(*metadata.values().find("general.author"), Json("\uFFFD\uFFFD"));
  EXPECT_EQ(metadata.values().find("general.tags")->dump(), "[\"a\", \"\uFFFD\"]");
  EXPECT_EQ(metadata.text_bytes("general.name"), "cut \xE6\x97");
  EXPECT_EQ(metadata.text_bytes("general.architecture"), "test");
  EXPECT_EQ(metadata.strings("general.tags").error().message,
            "Entry 1 of general.tags is not UTF-8 (\"\uFFFD\").");
  EXPECT_MENTIONS(message(File().entry("a\x80", GgufType::kString, text("x"))),
                  "The key \"a\uFFFD\" is not UTF-8.");
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[0].name = "a\xC3"; }),
                  "The tensor name \"a\uFFFD\" is not UTF-8.");
}

TEST(Gguf, ReadsEveryKindOfValue) {
  File file;
  file.entry("u8", GgufType::kU8, Bytes().number(uint8_t{200}).text)
      .entry("i8", GgufType::kI8, Bytes().number(int8_t{-3}).text)
      .entry("u16", GgufType::kU16, Bytes().number(uint16_t{60000}).text)
      .entry("i16", GgufType::kI16, Bytes().number(int16_t{-300}).text)
      .entry("u32", GgufType::kU32, Bytes().number(4000000000u).text)
      .entry("i32", GgufType::kI32, Bytes().number(-70000).text)
      .entry("f32", GgufType::kF32, Bytes().number(0.5f).text)
      .entry("bool", GgufType::kBool, Bytes().number(uint8_t{1}).text)
      .entry("string", GgufType::kString, Bytes().string("text").text)
      .entry("u64", GgufType::kU64, Bytes().number(kHuge).text)
      .entry("i64", GgufType::kI64, Bytes().number(-int64_t(kHuge)).text)
      .entry("f64", GgufType::kF64, Bytes().number(0.1).text)
      .array("array", GgufType::kI16, 2, Bytes().number(int16_t{-1}).number(int16_t{2}).text);
  const auto read_file = read(file.bytes());
  ASSERT_TRUE(read_file) << read_file.error().message;
  EXPECT_EQ(read_file->metadata.values().dump(),
            R"({"general.architecture": "test", "test.count": 7, "u8": 200, "i8": -3, )"
            R"("u16": 60000, "i16": -300, "u32": 4000000000, "i32": -70000, "f32": 0.5, )"
            R"("bool": true, "string": "text", "u64": 1152921504606846976, )"
            R"("i64": -1152921504606846976, "f64": 0.1, "array": [-1, 2]})");
}

TEST(Gguf, LeavesLongArraysInTheFile) {
  std::string tokens, scores, types;
  for (uint32_t i = 0; i < 5000; ++i) {
    tokens += Bytes().string(std::to_string(i)).text;
    scores += Bytes().number(float(i)).text;
    types += Bytes().number(int32_t(i % 6)).text;
  }
  File file;
  file.array("tokens", GgufType::kString, 5000, tokens)
      .array("scores", GgufType::kF32, 5000, scores)
      .array("types", GgufType::kI32, 5000, types);
  const auto read_file = read(file.bytes());
  ASSERT_TRUE(read_file) << read_file.error().message;
  const GgufMetadata& metadata = read_file->metadata;
  EXPECT_EQ(metadata.values().find("tokens")->as_string(), "array of 5000 strings");
  EXPECT_EQ(metadata.strings("tokens")->at(4999), "4999");
  EXPECT_EQ(metadata.floats("scores")->at(4999), 4999.0f);
  EXPECT_EQ(metadata.integers("types")->at(4999), 4999 % 6);
  EXPECT_TRUE(metadata.strings("nothing")->empty());
  EXPECT_MENTIONS(metadata.strings("scores").error().message, "scores is an array of numbers");
  EXPECT_MENTIONS(metadata.floats("types").error().message, "types is an array of another type");
  EXPECT_MENTIONS(metadata.integers("test.count").error().message, "test.count is an integer");
}

TEST(Gguf, RefusesIntegersBeyondTheResult) {
  File file;
  file.array("types", GgufType::kU64, 1, Bytes().number(kHuge).text);
  EXPECT_MENTIONS(read(file.bytes())->metadata.integers("types").error().message, "32 bits");
}

TEST(Gguf, RefusesAnotherMagicOrVersion) {
  EXPECT_EQ(damaged([](File& f) { f.magic = "GGUX"; }),
            "m: The file begins with \"GGUX\", expected \"GGUF\".");
  EXPECT_EQ(damaged([](File& f) { f.version = 1; }),
            "m: The version is 1; this engine reads 2 and 3.");
  EXPECT_MENTIONS(damaged([](File& f) { f.version = 99; }), "The version is 99");
  EXPECT_MENTIONS(damaged([](File& f) { f.version = 0x03000000; }), "big end first");
}

// CVE-2024-21802 and the others of that report: counts and lengths of the header believed.
TEST(Gguf, RefusesCountsAndLengthsBeyondTheFile) {
  EXPECT_MENTIONS(damaged([](File& f) { f.tensor_count = kHuge; }),
                  "claims 1152921504606846976 tensors");
  EXPECT_MENTIONS(damaged([](File& f) { f.entry_count = kHuge; }),
                  "1152921504606846976 metadata entries");
  EXPECT_MENTIONS(damaged([](File& f) { f.entry_count = 3; }), "the name of tensor 1 of 2");
  EXPECT_MENTIONS(
      damaged([](File& f) { f.entry("k", GgufType::kString, Bytes().number(kHuge).text); }),
      "The length of k is 1152921504606846976 bytes");
  EXPECT_MENTIONS(damaged([](File& f) { f.array("k", GgufType::kU64, kHuge, ""); }),
                  "k claims 1152921504606846976 elements");
  EXPECT_MENTIONS(damaged([](File& f) { f.array("k", GgufType::kString, kHuge, ""); }),
                  "k claims 1152921504606846976 elements");
}

// CVE-2025-49847: the length of a token of the vocabulary believed; CVE-2025-52566: narrowed.
TEST(Gguf, RefusesATokenLongerThanTheFile) {
  const auto array_of = [](uint64_t length) {
    return damaged([&](File& f) {
      f.array("tokenizer.ggml.tokens", GgufType::kString, 2,
              Bytes().string("a").number(length).text);
    });
  };
  EXPECT_MENTIONS(array_of(uint64_t{1} << 31), "The length of tokenizer.ggml.tokens is 2147483648");
  EXPECT_MENTIONS(array_of(~uint64_t{0}), "The length of tokenizer.ggml.tokens");
}

TEST(Gguf, RefusesNestedArraysAndUnknownValues) {
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += Bytes().number(9u).number(uint64_t{1}).text;
  EXPECT_MENTIONS(damaged([&](File& f) { f.entry("k", GgufType::kArray, nested); }),
                  "k is an array of arrays");
  EXPECT_MENTIONS(damaged([](File& f) { f.entry("k", GgufType(13), "...."); }),
                  "k has the type 13, expected 0 to 12");
  EXPECT_MENTIONS(damaged([](File& f) { f.entry("k", GgufType::kBool, "\x02"); }),
                  "k is a boolean of value 2");
}

TEST(Gguf, RefusesMoreValuesThanItKeeps) {
  constexpr uint64_t kElements = GgufMetadata::kMaxShownElements;
  File file;  // with two entries
  for (uint64_t i = 0; i < GgufMetadata::kMaxValues / kElements; ++i) {
    file.array(fmt::format("many.{}", i), GgufType::kU8, kElements, std::string(kElements, 'x'));
  }
  EXPECT_EQ(message(file),
            "m: With many.255 the metadata has 1048834 entries and elements; at most 1048576 "
            "are supported.");
  file.entries.pop_back();
  EXPECT_EQ(message(file), "no error");
}

TEST(Gguf, RefusesKeysThatAreEmptyOrRepeated) {
  EXPECT_MENTIONS(damaged([](File& f) { f.entry("", GgufType::kBool, "\x01"); }), "is empty");
  EXPECT_MENTIONS(damaged([](File& f) { f.entry("a\nb", GgufType::kBool, "\x01"); }), "a\\x0ab");
  EXPECT_MENTIONS(damaged([](File& f) { f.entries.push_back(f.entries[1]); }),
                  "The key \"test.count\" occurs twice.");
}

TEST(Gguf, RefusesANumberOfDimensionsBeyondFour) {
  for (const uint32_t dims : {0u, 5u, uint32_t{1} << 31}) {
    std::string text = File().bytes();
    const size_t at = text.find(Bytes().string("a").text) + 9;
    text.replace(at, 4, Bytes().number(dims).text);
    EXPECT_MENTIONS(message(text),
                    fmt::format("Tensor \"a\": It has {} dimensions, expected 1 to 4.", dims));
  }
}

// CVE-2025-53630 and CVE-2026-27940: products and sums of sizes that overflow.
TEST(Gguf, RefusesSizesThatOverflow) {
  const uint64_t large = uint64_t{1} << 32;
  EXPECT_MENTIONS(damaged([&](File& f) { f.tensors[0].extents = {large, large, 2}; }),
                  "more elements than 64 bits can count");
  EXPECT_MENTIONS(damaged([&](File& f) { f.tensors[0].extents = {large, large / 2}; }),
                  "more bytes than 64 bits can count");
  // Just below 2^64 bytes, so that adding an offset or the padding would wrap around.
  EXPECT_MENTIONS(damaged([&](File& f) {
                    f.tensors[0].extents = {(uint64_t{1} << 62) - 1};
                    f.tensors[0].offset = 64;
                  }),
                  "has 18446744073709551612 bytes at byte 64 of the data");
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[1].offset = ~uint64_t{31}; }),
                  "has 34 bytes at byte 18446744073709551584 of the data");
}

// CVE-2026-7482: a tensor larger than its file.
TEST(Gguf, RefusesTensorsOutsideTheData) {
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[1].offset = 4096; }),
                  "34 bytes at byte 4096 of the data, but the file has only 66 bytes of data");
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[1].offset = 33; }),
                  "Its offset 33 is not a multiple of the alignment 32.");
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[1].offset = 0; }), "begins inside tensor");
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[0].extents = {2, 0}; }), "has no elements");
}

TEST(Gguf, HonorsTheAlignmentThatIsAPowerOfTwo) {
  const auto aligned = [](uint32_t alignment) {
    File file;
    file.entry("general.alignment", GgufType::kU32, Bytes().number(alignment).text);
    file.alignment = file.tensors[1].offset = 64;
    file.data_bytes = 64 + 34;
    return file.bytes();
  };
  const auto file = read(aligned(64));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors.data(*file->tensors.find("b"))->front(), std::byte{64});
  for (const uint32_t wrong : {0u, 3u, 1u << 31}) {
    EXPECT_MENTIONS(message(aligned(wrong)), fmt::format("general.alignment is {}", wrong));
  }
}

TEST(Gguf, NamesTheTypesThatItDoesNotRead) {
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[1].type = 9; }),
                  "Tensor \"b\": Its type is Q8_1; this engine reads F32, F16, Q4_0");
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[1].type = 200; }), "Its type is number 200");
  File file;
  file.tensors[1].type = 15;
  EXPECT_EQ(read(file.bytes()).error().code, ErrorCode::kUnsupported);
}

TEST(Gguf, ListsTensorsOfTypesThatItDoesNotRead) {
  const std::pair<uint32_t, const char*> types[] = {{9, "Q8_1"}, {200, "type 200"}};
  for (const auto& [type, name] : types) {
    File file;
    file.tensors[1].type = type;
    UnreadTensors unread;
    const auto part = read_gguf_part(source_of(file.bytes()), unread);
    ASSERT_TRUE(part) << part.error().message;
    ASSERT_EQ(part->tensors.size(), 1u);
    EXPECT_EQ(part->tensors[0].name, "a");
    ASSERT_EQ(unread.size(), 1u);
    EXPECT_EQ(unread[0].name, "b");
    EXPECT_EQ(unread[0].type, name);
    EXPECT_EQ(unread[0].shape, (std::vector<uint64_t>{32}));
    EXPECT_EQ(unread[0].bytes, 34u) << "up to the end of the file";
  }
}

TEST(Gguf, RefusesRowsThatAreNotWholeBlocks) {
  EXPECT_MENTIONS(damaged([](File& f) { f.tensors[1].extents = {31}; }),
                  "rows have 31 elements, which are not whole blocks of 32 (q8_0)");
}

TEST(Gguf, RefusesATensorThatOccursTwice) {
  EXPECT_EQ(damaged([](File& f) { f.tensors[1].name = "a"; }), "m: Tensor \"a\" occurs twice.");
}

TEST(Gguf, RefusesEveryFileThatIsCut) {
  const std::string whole = File().bytes();
  EXPECT_EQ(message(whole), "no error");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(message(std::string_view(whole).substr(0, size)), "no error") << size;
  }
}

/// A folder with a model in three parts.
struct GgufSplit : testing::Test {
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("gguf_split.{}", ::getpid());

  GgufSplit() {
    std::filesystem::create_directories(folder);
    for (uint16_t i = 0; i < 3; ++i) write(i, i, 3);
  }
  ~GgufSplit() override { std::filesystem::remove_all(folder); }

  std::string path(uint32_t number) const {
    return (folder / fmt::format("m-{:05}-of-00003.gguf", number + 1)).string();
  }
  void write(uint32_t place, uint16_t number, uint16_t count, int32_t tensors = 3) const {
    File file;
    file.entry("split.no", GgufType::kU16, Bytes().number(number).text)
        .entry("split.count", GgufType::kU16, Bytes().number(count).text)
        .entry("split.tensors.count", GgufType::kI32, Bytes().number(tensors).text);
    file.tensors = {{fmt::format("t{}", number), {2}, 0, 0}};
    std::ofstream(path(place), std::ios::binary) << file.bytes();
  }
  std::string message(uint32_t part = 0) const {
    auto file = open_gguf(path(part));
    return file ? "no error" : file.error().message;
  }
};

TEST_F(GgufSplit, OpensAllPartsWithAnyOfThem) {
  for (uint32_t i = 0; i < 3; ++i) {
    const auto file = open_gguf(path(i));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->tensors.tensors().size(), 3u);
    EXPECT_EQ(file->tensors.file_name(*file->tensors.find("t1")), path(1));
    EXPECT_EQ(file->metadata.file_name(), path(0));
  }
}

TEST_F(GgufSplit, NamesAMissingPart) {
  std::filesystem::remove(path(1));
  EXPECT_EQ(message(2), path(2) + ": The file is part 3 of 3; part 2 is missing: " + path(1) + ".");
}

TEST_F(GgufSplit, RefusesPartsOfOtherModels) {
  write(1, 2, 3);
  EXPECT_EQ(message(), path(1) + ": The file says it is part 3 of 3, expected part 2 of 3.");
  write(1, 1, 4);
  EXPECT_MENTIONS(message(), "part 2 of 4, expected part 2 of 3");
  write(1, 1, 3);
  write(0, 0, 3, 4);
  EXPECT_MENTIONS(message(), "split.tensors.count is 4, but the 3 parts have 3 tensors");
  write(0, 3, 3);
  EXPECT_MENTIONS(message(), "split.no is 3, expected less than split.count (3)");
}

TEST_F(GgufSplit, RefusesANameThatDoesNotSayItsPart) {
  const std::string other = (folder / "m.gguf").string();
  std::filesystem::rename(path(0), other);
  auto file = open_gguf(other);
  ASSERT_FALSE(file);
  EXPECT_MENTIONS(file.error().message, "one of 3 parts, whose names must end in");
}

}  // namespace
}  // namespace tokamak
