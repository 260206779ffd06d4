#include "formats/gguf_writer.h"

#include <gtest/gtest.h>

#include <span>

#include "formats/gguf.h"

namespace tokamak {
namespace {

std::shared_ptr<ByteSource> source_of(const std::string& bytes) {
  const auto span = std::as_bytes(std::span(bytes));
  return memory_source("m", {span.begin(), span.end()});
}

TensorInfo tensor(const char* name, DType dtype, std::vector<uint64_t> shape, uint64_t bytes) {
  TensorInfo out;
  out.name = name;
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.bytes = bytes;
  return out;
}

TEST(GgufWriter, IsReadBack) {
  std::vector<GgufEntry> entries{gguf_entry("general.file_type", 1), gguf_entry("b", 7)};
  set_gguf_entry(entries, gguf_entry("general.file_type", 15));
  set_gguf_entry(entries, gguf_entry("c", 9));
  set_gguf_entry(entries, gguf_entry("d", "text"));
  set_gguf_entry(entries, gguf_entry("e", std::vector<std::string>{"a", "bc"}));
  std::string file = gguf_header(
      entries,
      {tensor("x.weight", DType::kF32, {3, 5}, 60), tensor("y.weight", DType::kQ8_0, {2, 32}, 68)},
      32);
  EXPECT_EQ(file.size() % 32, 0u);
  const size_t begin = file.size();
  file.resize(begin + 64 + 68);
  const auto part = read_gguf_part(source_of(file));
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->metadata.values().dump(),
            R"({"general.file_type": 15, "b": 7, "c": 9, "d": "text", "e": ["a", "bc"]})");
  ASSERT_EQ(part->tensors.size(), 2u);
  EXPECT_EQ(describe(part->tensors[0]), "f32[3, 5]");
  EXPECT_EQ(part->tensors[0].offset, begin);
  EXPECT_EQ(describe(part->tensors[1]), "q8_0[2, 32]");
  EXPECT_EQ(part->tensors[1].offset, begin + 64);
}

TEST(GgufWriter, KeepsTheBytesOfEntries) {
  // A text, an array of two texts and one of three bytes.
  std::string list = "GGUF";
  list += std::string("\3\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 20);
  const std::string text("\1\0\0\0\0\0\0\0t\x08\0\0\0\2\0\0\0\0\0\0\0hi", 23);
  const std::string texts(
      "\1\0\0\0\0\0\0\0u\x09\0\0\0\x08\0\0\0\2\0\0\0\0\0\0\0"
      "\1\0\0\0\0\0\0\0a\1\0\0\0\0\0\0\0b",
      43);
  const std::string bytes("\1\0\0\0\0\0\0\0v\x09\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0xyz", 28);
  const auto entries = read_gguf_entries(*source_of(list + text + texts + bytes));
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].bytes, text);
  EXPECT_EQ((*entries)[1].bytes, texts);
  EXPECT_EQ((*entries)[2].bytes, bytes);
  EXPECT_EQ((*entries)[2].key, "v");
}

TEST(GgufWriter, RefusesWhatIsNoGguf) {
  const auto entries = read_gguf_entries(*source_of("GGML and more"));
  ASSERT_FALSE(entries);
  EXPECT_NE(entries.error().message.find("m: "), std::string::npos) << entries.error().message;
}

}  // namespace
}  // namespace tokamak
