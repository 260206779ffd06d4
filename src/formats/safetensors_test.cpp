// One test per group of malformed containers; tests/malformed/make_malformed.py makes the same
// groups as model folders for the command line.
#include "formats/safetensors.h"

#include <gtest/gtest.h>

#include "formats/unread.h"

namespace tokamak {
namespace {

/// Two bf16 tensors of 4 and 6 bytes; `t2` is the text of the second entry.
constexpr std::string_view kFirst =
    R"("a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]})";

std::string two(std::string_view second_entry) {
  return fmt::format("{{{}, \"b\": {}}}", kFirst, second_entry);
}
const std::string kGood = two(R"({"dtype": "BF16", "shape": [3, 1], "data_offsets": [4, 10]})");

std::string file_with_length(uint64_t length, std::string_view header, size_t data_bytes) {
  std::string file;
  for (uint32_t i = 0; i < 8; ++i) file += char(uint8_t(length >> (8 * i)));
  file += header;
  for (size_t i = 0; i < data_bytes; ++i) file += char(i);
  return file;
}

std::string file_of(std::string_view header, size_t data_bytes = 10) {
  return file_with_length(header.size(), header, data_bytes);
}

std::shared_ptr<ByteSource> source_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return memory_source("m", {bytes.begin(), bytes.end()});
}

Result<TensorFile> read(std::string_view file) {
  return read_safetensors(source_of(file));
}

std::string message(std::string_view file) {
  auto result = read(file);
  return result ? "no error" : result.error().message;
}

TEST(Safetensors, ReadsNamesTypesShapesAndBytes) {
  auto file = read(file_of(kGood));
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->tensors().size(), 2u);
  const TensorInfo& b = *file->find("b");
  EXPECT_EQ(describe(b), "bf16[3, 1]");
  EXPECT_EQ(b.bytes, 6u);
  EXPECT_EQ(b.offset, 8 + kGood.size() + 4);
  auto data = file->data(b);
  ASSERT_TRUE(data);
  EXPECT_EQ((*data)[0], std::byte{4});
  EXPECT_EQ((*data)[5], std::byte{9});
}

TEST(Safetensors, ReadsMetadataAndPaddedHeaders) {
  auto file = read(file_of(R"({"__metadata__": {"format": "pt"}}      )", 0));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->tensors().empty());
  EXPECT_EQ(file->metadata().find("format")->as_string(), "pt");
}

TEST(Safetensors, AcceptsScalarsAndTensorsWithoutElements) {
  auto file = read(file_of(R"({"s": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
      "e": {"dtype": "F32", "shape": [0, 5], "data_offsets": [4, 4]}})",
                           4));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->find("s")->bytes, 4u);
  EXPECT_EQ(file->find("e")->bytes, 0u);
}

TEST(Safetensors, RecognizesEveryElementType) {
  for (const auto& [text, dtype] :
       std::vector<std::pair<std::string, DType>>{{"F64", DType::kF64},
                                                  {"F32", DType::kF32},
                                                  {"F16", DType::kF16},
                                                  {"BF16", DType::kBF16},
                                                  {"I64", DType::kI64},
                                                  {"U64", DType::kU64},
                                                  {"I32", DType::kI32},
                                                  {"U32", DType::kU32},
                                                  {"I16", DType::kI16},
                                                  {"U16", DType::kU16},
                                                  {"I8", DType::kI8},
                                                  {"U8", DType::kU8},
                                                  {"BOOL", DType::kBool},
                                                  {"F8_E4M3", DType::kF8E4M3},
                                                  {"F8_E5M2", DType::kF8E5M2},
                                                  {"F8_E8M0", DType::kF8E8M0}}) {
    const size_t bytes = dtype_bytes(dtype);
    auto file = read(
        file_of(fmt::format(R"({{"t": {{"dtype": "{}", "shape": [1], "data_offsets": [0, {}]}}}})",
                            text, bytes),
                bytes));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->find("t")->dtype, dtype) << text;
  }
}

// Group 1.
TEST(Safetensors, RejectsEmptyFile) {
  EXPECT_EQ(message(""), "m: The file has 0 bytes; a safetensors file has at least 8.");
}

// Group 2.
TEST(Safetensors, RejectsShortLengthField) {
  EXPECT_EQ(message("12345"), "m: The file has 5 bytes; a safetensors file has at least 8.");
}

// Group 3.
TEST(Safetensors, RejectsTruncatedHeader) {
  EXPECT_EQ(message(file_of(kGood).substr(0, 60)),
            fmt::format("m: The header claims {} bytes, but only 52 bytes follow its length field.",
                        kGood.size()));
}

// Group 4.
TEST(Safetensors, RejectsHeaderTooLong) {
  EXPECT_EQ(message(file_with_length(uint64_t{INT64_MAX}, kGood, 10)),
            "m: The header claims 9223372036854775807 bytes; at most 100000000 are allowed.");
  EXPECT_EQ(message(file_with_length(UINT64_MAX, kGood, 10)),
            "m: The header claims 18446744073709551615 bytes; at most 100000000 are allowed.");
}

// Group 5.
TEST(Safetensors, RejectsHeaderPastEnd) {
  const std::string good = file_of(kGood);
  EXPECT_EQ(message(file_with_length(good.size() - 7, kGood, 10)),
            fmt::format("m: The header claims {} bytes, but only {} bytes follow its length field.",
                        good.size() - 7, good.size() - 8));
}

// Group 6.
TEST(Safetensors, RejectsHeaderZero) {
  EXPECT_EQ(message(file_with_length(0, kGood, 10)), "m: The header is empty.");
}

// Group 7.
TEST(Safetensors, RejectsHeaderNotJson) {
  std::string file = file_of(kGood);
  file[8] = 'x';
  EXPECT_NE(message(file).find("m: The header is not valid JSON: "), std::string::npos);
}

// Group 8.
TEST(Safetensors, RejectsHeaderJsonArray) {
  EXPECT_EQ(message(file_of("[]", 0)), "m: The header is an array; expected an object.");
  EXPECT_EQ(message(file_of(R"({"a": 3})", 0)),
            "m: Tensor \"a\": The entry is an integer; expected an object.");
  EXPECT_EQ(message(file_of(R"({"__metadata__": {"a": 1}})", 0)),
            "m: \"__metadata__\" is not one object of strings.");
}

// Group 9.
TEST(Safetensors, RejectsHeaderDeep) {
  EXPECT_EQ(message(file_of(std::string(100000, '['), 0)),
            "m: The header is not valid JSON: The JSON text nests deeper than 256 levels.");
}

// Group 10.
TEST(Safetensors, RejectsHeaderHugeNumber) {
  const auto with_end = [](std::string_view end) {
    return message(file_of(
        two(fmt::format(R"({{"dtype": "BF16", "shape": [3, 1], "data_offsets": [4, {}]}})", end))));
  };
  const std::string start = "m: Tensor \"b\": \"data_offsets\" holds ";
  EXPECT_EQ(with_end("1e400"), start + "Infinity; only whole numbers from 0 are allowed.");
  EXPECT_EQ(with_end("99999999999999999999"),
            start + "99999999999999999999; only whole numbers from 0 are allowed.");
  EXPECT_EQ(with_end("-1"), start + "-1; only whole numbers from 0 are allowed.");
  EXPECT_EQ(with_end("1.5"), start + "1.5; only whole numbers from 0 are allowed.");
  EXPECT_EQ(with_end("\"0\""), start + "a string; only whole numbers from 0 are allowed.");
  EXPECT_EQ(with_end("10, 12"),
            "m: Tensor \"b\": \"data_offsets\" is not an array of two numbers.");
}

// Group 11.
TEST(Safetensors, RejectsTruncatedData) {
  const std::string good = file_of(kGood);
  EXPECT_EQ(
      message(good.substr(0, good.size() - 1)),
      "m: Tensor \"b\": The tensor ends at byte 10 of the data, but the file has only 9 bytes "
      "of data.");
  EXPECT_EQ(message(good.substr(0, good.size() - 8)),
            "m: Tensor \"a\": The tensor ends at byte 4 of the data, but the file has only 2 bytes "
            "of data.");
}

// Group 12.
TEST(Safetensors, RejectsTrailingData) {
  EXPECT_EQ(message(file_of(kGood, 26)),
            "m: The tensors end at byte 10 of the data, but the file has 26 bytes of data.");
}

// Group 13.
TEST(Safetensors, RejectsOverlappingOffsets) {
  EXPECT_EQ(message(file_of(two(R"({"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]})"), 4)),
            "m: Tensor \"b\" begins at byte 0 of the data and overlaps tensor \"a\", which ends at "
            "byte 4.");
  EXPECT_EQ(
      message(file_of(two(R"({"dtype": "BF16", "shape": [4], "data_offsets": [2, 10]})"))),
      "m: Tensor \"b\" begins at byte 2 of the data and overlaps tensor \"a\", which ends at byte "
      "4.");
}

// Group 14.
TEST(Safetensors, RejectsHoleInData) {
  EXPECT_EQ(message(file_of(two(R"({"dtype": "BF16", "shape": [2], "data_offsets": [6, 10]})"))),
            "m: No tensor covers the bytes 4 to 6 of the data, before tensor \"b\".");
}

// Group 15.
TEST(Safetensors, RejectsOffsetsReversed) {
  EXPECT_EQ(message(file_of(two(R"({"dtype": "BF16", "shape": [3], "data_offsets": [10, 4]})"))),
            "m: Tensor \"b\": \"data_offsets\" ends at 4, before its begin at 10.");
}

// Group 16.
TEST(Safetensors, RejectsOffsetSizeMismatch) {
  EXPECT_EQ(message(file_of(two(R"({"dtype": "BF16", "shape": [2], "data_offsets": [4, 10]})"))),
            "m: Tensor \"b\": \"data_offsets\" spans 6 bytes, but bf16[2] has 4 bytes.");
}

TEST(Safetensors, ListsTensorsOfUnknownDTypes) {
  UnreadTensors unread;
  const auto file = read_safetensors(
      source_of(file_of(two(R"({"dtype": "F4", "shape": [3], "data_offsets": [4, 10]})"))), unread);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->find("b"), nullptr);
  EXPECT_NE(file->find("a"), nullptr);
  ASSERT_EQ(unread.size(), 1u);
  EXPECT_EQ(unread[0].name, "b");
  EXPECT_EQ(unread[0].type, "F4");
  EXPECT_EQ(unread[0].bytes, 6u);
}

// Group 17.
TEST(Safetensors, RejectsUnknownDType) {
  for (const std::string dtype : {"BF17", "Q4", "bf16", ""}) {
    auto result = read(file_of(
        two(fmt::format(R"({{"dtype": "{}", "shape": [3], "data_offsets": [4, 10]}})", dtype))));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message,
              fmt::format("m: Tensor \"b\": The dtype \"{}\" is not known.", dtype));
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  }
  EXPECT_EQ(message(file_of(two(R"({"shape": [3], "data_offsets": [4, 10]})"))),
            "m: Tensor \"b\": \"dtype\" is missing.");
  EXPECT_EQ(message(file_of(two(R"({"dtype": 3, "shape": [3], "data_offsets": [4, 10]})"))),
            "m: Tensor \"b\": \"dtype\" is an integer; expected a string.");
  EXPECT_EQ(message(file_of(two(
                R"({"dtype": "F32", "dtype": "BF16", "shape": [3], "data_offsets": [4, 10]})"))),
            "m: Tensor \"b\": \"dtype\" occurs twice.");
}

// Group 20.
TEST(Safetensors, RejectsShapeOverflow) {
  EXPECT_EQ(
      message(file_of(two(
          R"({"dtype": "BF16", "shape": [4294967296, 4294967296, 2], "data_offsets": [4, 10]})"))),
      "m: Tensor \"b\": The shape [4294967296, 4294967296, 2] has more bytes than 64 bits can "
      "count.");
  // The elements fit into 64 bits, the bytes do not.
  EXPECT_NE(
      message(
          file_of(two(
              R"({"dtype": "BF16", "shape": [4294967296, 2147483648], "data_offsets": [4, 4]})")))
          .find("more bytes than 64 bits can count"),
      std::string::npos);
}

// Group 21.
TEST(Safetensors, RejectsShapeZeroOrNegativeWithData) {
  EXPECT_EQ(message(file_of(two(R"({"dtype": "BF16", "shape": [0, 3], "data_offsets": [4, 10]})"))),
            "m: Tensor \"b\": \"data_offsets\" spans 6 bytes, but bf16[0, 3] has 0 bytes.");
  EXPECT_EQ(
      message(file_of(two(R"({"dtype": "BF16", "shape": [-1, 3], "data_offsets": [4, 10]})"))),
      "m: Tensor \"b\": \"shape\" holds -1; only whole numbers from 0 are allowed.");
}

// Group 22.
TEST(Safetensors, RejectsDuplicateName) {
  EXPECT_EQ(
      message(file_of(fmt::format(
          R"({{{}, "a": {{"dtype": "BF16", "shape": [3], "data_offsets": [4, 10]}}}})", kFirst))),
      "m: Tensor \"a\" occurs twice.");
  // The same place too: the name is reported, not the overlap that follows from it.
  EXPECT_EQ(message(file_of(fmt::format("{{{}, {}}}", kFirst, kFirst), 4)),
            "m: Tensor \"a\" occurs twice.");
  EXPECT_EQ(message(file_of(R"({"__metadata__": {}, "__metadata__": {}})", 0)),
            "m: \"__metadata__\" is not one object of strings.");
}

// Group 25.
TEST(Safetensors, RejectsNameWithNulOrInvalidUtf8) {
  const std::string entry = R"({"dtype": "BF16", "shape": [5], "data_offsets": [0, 10]})";
  EXPECT_EQ(message(file_of(fmt::format(R"({{"a\u0000b": {}}})", entry))),
            "m: The tensor name \"a\\x00b\" is empty or contains a control character.");
  EXPECT_EQ(message(file_of(fmt::format(R"({{"": {}}})", entry))),
            "m: The tensor name \"\" is empty or contains a control character.");
  EXPECT_NE(message(file_of(fmt::format("{{\"a\xff\xfe\": {}}}", entry)))
                .find("m: The header is not valid JSON: "),
            std::string::npos);
}

TEST(Safetensors, BoundsTextFromTheFileInMessages) {
  const std::string entry = R"({"dtype": "BF17", "shape": [5], "data_offsets": [0, 10]})";
  const std::string long_name(5000, 'n');
  const std::string text = message(file_of(fmt::format("{{\"{}\": {}}}", long_name, entry)));
  EXPECT_LT(text.size(), 300u);
  EXPECT_NE(text.find("nnn...\": The dtype"), std::string::npos);
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const std::string good = file_of(kGood);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(read(std::string_view(good).substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace tokamak
