#include "formats/gguf_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/bits.h"
#include "base/check.h"
#include "formats/gguf_cursor.h"
#include "formats/gguf_types.h"

namespace tokamak {
namespace {

constexpr uint32_t kVersion = 3;

static_assert(std::endian::native == std::endian::little);

template <typename T>
void put(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

void put_text(std::string& out, std::string_view text) {
  put(out, uint64_t{text.size()});
  out += text;
}

GgufEntry entry_of(std::string_view key, GgufType type) {
  GgufEntry entry{std::string(key), {}};
  put_text(entry.bytes, key);
  put(entry.bytes, uint32_t(type));
  return entry;
}

/// Leaves the cursor after a value of that type.
Result<void> skip_value(GgufCursor& cursor, GgufType type, std::string_view key) {
  uint64_t count = 1;
  if (type == GgufType::kArray) {
    TOK_TRY(const auto of, cursor.number<uint32_t>(key));
    TOK_TRY(count, cursor.number<uint64_t>(key));
    type = GgufType(of);
  }
  if (type == GgufType::kString) {
    for (uint64_t i = 0; i < count; ++i) TOK_TRY(cursor.text(key));
    return {};
  }
  const uint64_t size = type <= GgufType::kF64 ? gguf_type_bytes(type) : 0;
  if (size == 0)
    return invalid_input("{} has the type {}, which is no plain one.", key, uint32_t(type));
  if (count > cursor.left() / size) {
    return invalid_input("{} claims {} elements, but only {} bytes are left in the file.", key,
                         count, cursor.left());
  }
  cursor.skip(count * size);
  return {};
}

Result<std::vector<GgufEntry>> read_entries(const ByteSource& source) {
  GgufCursor cursor(source);
  TOK_TRY(const auto magic, cursor.number<std::array<char, 4>>("the magic"));
  if (std::string_view(magic.data(), magic.size()) != "GGUF") {
    return invalid_input("The file does not begin with \"GGUF\".");
  }
  TOK_TRY(cursor.number<uint32_t>("the version"));
  TOK_TRY(cursor.number<uint64_t>("the number of tensors"));
  TOK_TRY(const auto count, cursor.number<uint64_t>("the number of metadata entries"));
  std::vector<GgufEntry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = cursor.at();
    TOK_TRY(const std::string_view key, cursor.text("a key"));
    GgufEntry entry{std::string(key), {}};
    TOK_TRY(const auto type, cursor.number<uint32_t>(entry.key));
    TOK_TRY(skip_value(cursor, GgufType(type), entry.key));
    TOK_TRY(const FileBytes bytes, source.view(begin, cursor.at() - begin));
    entry.bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

Result<std::vector<GgufEntry>> read_gguf_entries(const ByteSource& source) {
  auto entries = read_entries(source);
  if (!entries) return Failure(entries.error().within(source.name()));
  return entries;
}

GgufEntry gguf_entry(std::string_view key, uint32_t value) {
  GgufEntry entry = entry_of(key, GgufType::kU32);
  put(entry.bytes, value);
  return entry;
}

GgufEntry gguf_entry(std::string_view key, std::string_view text) {
  GgufEntry entry = entry_of(key, GgufType::kString);
  put_text(entry.bytes, text);
  return entry;
}

GgufEntry gguf_entry(std::string_view key, const std::vector<std::string>& texts) {
  GgufEntry entry = entry_of(key, GgufType::kArray);
  put(entry.bytes, uint32_t(GgufType::kString));
  put(entry.bytes, uint64_t{texts.size()});
  for (const std::string& text : texts) put_text(entry.bytes, text);
  return entry;
}

void set_gguf_entry(std::vector<GgufEntry>& entries, GgufEntry entry) {
  const auto found = std::ranges::find(entries, entry.key, &GgufEntry::key);
  if (found != entries.end()) {
    *found = std::move(entry);
  } else {
    entries.push_back(std::move(entry));
  }
}

std::string gguf_header(const std::vector<GgufEntry>& entries,
                        const std::vector<TensorInfo>& tensors, uint64_t alignment) {
  std::string out = "GGUF";
  put(out, kVersion);
  put(out, uint64_t{tensors.size()});
  put(out, uint64_t{entries.size()});
  for (const GgufEntry& entry : entries) out += entry.bytes;
  uint64_t offset = 0;
  for (const TensorInfo& tensor : tensors) {
    const auto number = gguf_type_number(tensor.dtype);
    TOK_CHECK(number.has_value());
    put_text(out, tensor.name);
    put(out, uint32_t(tensor.shape.size()));
    for (size_t i = tensor.shape.size(); i-- > 0;) put(out, tensor.shape[i]);
    put(out, *number);
    put(out, offset);
    offset += round_up(tensor.bytes, alignment);
  }
  out.resize(size_t(round_up(uint64_t{out.size()}, alignment)));
  return out;
}

}  // namespace tokamak
