#include "formats/gguf.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/bits.h"
#include "base/utf8.h"
#include "formats/gguf_cursor.h"
#include "formats/gguf_types.h"
#include "formats/printable.h"
#include "formats/unread.h"

namespace tokamak {
namespace {

constexpr uint32_t kMaxAlignment = 65536;
constexpr uint32_t kMaxDims = 4;
// The least bytes of an entry (a key of one letter, a type, one byte) and of a tensor.
constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 1, kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

Result<GgufType> read_type(GgufCursor& cursor, std::string_view what) {
  TOK_TRY(const auto type, cursor.number<uint32_t>(what));
  if (type > uint32_t(GgufType::kF64)) {
    return invalid_input("{} has the type {}, expected 0 to 12.", what, type);
  }
  return GgufType(type);
}

/// Checks that the elements are all there and leaves the cursor after them.
Result<void> skip_elements(GgufCursor& cursor, const GgufMetadata::Array& array,
                           std::string_view what) {
  const uint64_t least = array.type == GgufType::kString ? 8 : gguf_type_bytes(array.type);
  if (array.count > cursor.left() / least) {
    return invalid_input("{} claims {} elements, but only {} bytes are left in the file.", what,
                         array.count, cursor.left());
  }
  if (array.type != GgufType::kString) {
    cursor.skip(array.count * least);
    return {};
  }
  for (uint64_t i = 0; i < array.count; ++i) TOK_TRY(cursor.text(what));
  return {};
}

Result<Json> shown_elements(GgufCursor cursor, const GgufMetadata::Array& array,
                            std::string_view what) {
  if (array.count > GgufMetadata::kMaxShownElements) {
    return Json(fmt::format("array of {} {}", array.count,
                            array.type == GgufType::kString ? "strings" : "numbers"));
  }
  Json::Array out;
  for (uint64_t i = 0; i < array.count; ++i) {
    if (array.type == GgufType::kString) {
      TOK_TRY(const std::string_view text, cursor.text(what));
      out.emplace_back(repair_utf8(text));
    } else {
      TOK_TRY(out.emplace_back(), read_gguf_scalar(cursor, array.type, what));
    }
  }
  return Json(std::move(out));
}

/// The part of the metadata that is read so far.
struct Reading {
  std::vector<GgufMetadata::Array> arrays;
  GgufMetadata::Texts broken;  // that are not UTF-8
  uint64_t values = 0;

  Result<void> count(uint64_t more, std::string_view what) {
    values += more;
    if (values <= GgufMetadata::kMaxValues) return {};
    return unsupported(
        "With {} the metadata has {} entries and elements; at most {} are supported.", what, values,
        GgufMetadata::kMaxValues);
  }
};

Result<Json> read_value(GgufCursor& cursor, const std::string& key, std::string_view what,
                        Reading& reading) {
  TOK_TRY(reading.count(1, what));
  TOK_TRY(const GgufType type, read_type(cursor, what));
  if (type == GgufType::kString) {
    TOK_TRY(const std::string_view text, cursor.text(what));
    if (is_valid_utf8(text)) return Json(text);
    reading.broken.emplace_back(key, text);
    return Json(repair_utf8(text));
  }
  if (type != GgufType::kArray) return read_gguf_scalar(cursor, type, what);
  GgufMetadata::Array array{.key = key};
  TOK_TRY(array.type, read_type(cursor, what));
  if (array.type == GgufType::kArray) {
    return unsupported("{} is an array of arrays; this engine reads plain ones.", what);
  }
  TOK_TRY(array.count, cursor.number<uint64_t>(what));
  array.offset = cursor.at();
  const GgufCursor begin = cursor;
  TOK_TRY(skip_elements(cursor, array, what));
  if (array.count <= GgufMetadata::kMaxShownElements) TOK_TRY(reading.count(array.count, what));
  TOK_TRY(Json shown, shown_elements(begin, array, what));
  reading.arrays.push_back(std::move(array));
  return shown;
}

/// `what` it is called by is shown in messages.
Result<void> check_name(std::string_view what, std::string_view name) {
  if (name.empty() || has_control_character(name)) {
    return invalid_input("The {} \"{}\" is empty or contains a control character.", what,
                         printable(name));
  }
  if (!is_valid_utf8(name)) {
    return invalid_input("The {} \"{}\" is not UTF-8.", what, printable(name));
  }
  return {};
}

Result<GgufMetadata> read_metadata(GgufCursor& cursor, uint64_t count,
                                   const std::shared_ptr<ByteSource>& source) {
  Json values(Json::Object{});
  Reading reading;
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < count; ++i) {
    TOK_TRY(const std::string_view name,
            cursor.text(fmt::format("the key of metadata entry {} of {}", i + 1, count)));
    TOK_TRY(check_name("key", name));
    const std::string key(name), what = printable(name);
    TOK_TRY(Json value, read_value(cursor, key, what, reading));
    values.set(key, std::move(value));
    keys.push_back(key);
  }
  std::ranges::sort(keys);
  if (const auto twice = std::ranges::adjacent_find(keys); twice != keys.end()) {
    return invalid_input("The key \"{}\" occurs twice.", printable(*twice));
  }
  return GgufMetadata(source, std::move(values), std::move(reading.arrays),
                      std::move(reading.broken));
}

/// A tensor as the header has it, its offset counted from the start of the data.
struct Listed {
  TensorInfo tensor;
  std::string unread_type;  // "" for types that are read
};

/// Extents, type and offset. A type that is not read is an error unless those are listed.
Result<void> read_tensor(GgufCursor& cursor, Listed& listed, bool lists_unread) {
  TensorInfo& tensor = listed.tensor;
  constexpr std::string_view kWhat = "its description";
  TOK_TRY(const auto dims, cursor.number<uint32_t>(kWhat));
  if (dims < 1 || dims > kMaxDims) {
    return invalid_input("It has {} dimensions, expected 1 to {}.", dims, kMaxDims);
  }
  for (uint32_t i = 0; i < dims; ++i) {
    TOK_TRY(const auto extent, cursor.number<uint64_t>(kWhat));
    tensor.shape.insert(tensor.shape.begin(), extent);
  }
  TOK_TRY(const auto type, cursor.number<uint32_t>(kWhat));
  TOK_TRY(tensor.offset, cursor.number<uint64_t>(kWhat));
  const Result<DType> dtype = gguf_dtype(type);
  if (!dtype && !lists_unread) return Failure(dtype.error());
  if (!dtype) {
    listed.unread_type = gguf_type_name(type);
    return {};
  }
  tensor.dtype = *dtype;
  const GgufBlock block = gguf_block(tensor.dtype);
  if (tensor.shape.back() % block.weights != 0) {
    return invalid_input("Its rows have {} elements, which are not whole blocks of {} ({}).",
                         tensor.shape.back(), block.weights, dtype_name(tensor.dtype));
  }
  uint64_t elements = 1;
  for (const uint64_t extent : tensor.shape) {
    if (extent == 0) return invalid_input("{} has no elements.", describe(tensor));
    if (__builtin_mul_overflow(elements, extent, &elements)) {
      return invalid_input("{} has more elements than 64 bits can count.", describe(tensor));
    }
  }
  if (__builtin_mul_overflow(elements / block.weights, uint64_t{block.bytes}, &tensor.bytes)) {
    return invalid_input("{} has more bytes than 64 bits can count.", describe(tensor));
  }
  return {};
}

Result<void> place_tensor(TensorInfo& tensor, uint64_t data_begin, uint64_t size,
                          uint64_t alignment) {
  if (tensor.offset % alignment != 0) {
    return invalid_input("Its offset {} is not a multiple of the alignment {}.", tensor.offset,
                         alignment);
  }
  const uint64_t data_bytes = size - data_begin;
  if (tensor.offset > data_bytes || tensor.bytes > data_bytes - tensor.offset) {
    return invalid_input(
        "{} has {} bytes at byte {} of the data, but the file has only {} bytes of data.",
        describe(tensor), tensor.bytes, tensor.offset, data_bytes);
  }
  tensor.offset += data_begin;
  return {};
}

Failure about(const TensorInfo& tensor, const Error& error) {
  return Failure(error.within(fmt::format("Tensor \"{}\"", printable(tensor.name))));
}

Result<void> check_apart(const std::vector<TensorInfo>& tensors) {
  std::vector<const TensorInfo*> order;
  for (const TensorInfo& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {}, [](const TensorInfo* t) { return std::tie(t->offset, t->name); });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = *order[i - 1];
    if (order[i]->offset < before.offset + before.bytes) {
      return invalid_input("Tensor \"{}\" begins inside tensor \"{}\".", printable(order[i]->name),
                           printable(before.name));
    }
  }
  return {};
}

/// Sets the bytes of tensors of types that are not read: how many a block has is not known, but
/// where the next tensor begins.
void measure_unread(std::vector<Listed>& listed, uint64_t data_bytes) {
  std::vector<uint64_t> begins;
  for (const Listed& one : listed) begins.push_back(one.tensor.offset);
  std::ranges::sort(begins);
  for (Listed& one : listed) {
    if (one.unread_type.empty()) continue;
    const auto next = std::ranges::upper_bound(begins, one.tensor.offset);
    const uint64_t end = next == begins.end() ? data_bytes : std::min(*next, data_bytes);
    one.tensor.bytes = end > one.tensor.offset ? end - one.tensor.offset : 0;
  }
}

Result<uint32_t> read_start(GgufCursor& cursor) {
  TOK_TRY(const auto magic, cursor.number<std::array<char, 4>>("the magic"));
  if (std::string_view(magic.data(), 4) != "GGUF") {
    return invalid_input("The file begins with \"{}\", expected \"GGUF\".",
                         printable({magic.data(), 4}));
  }
  TOK_TRY(const auto version, cursor.number<uint32_t>("the version"));
  if (version != 0 && (version & 0xffff) == 0) {
    return unsupported("The numbers of the file have their big end first; convert it.");
  }
  if (version != 2 && version != 3) {
    return unsupported("The version is {}; this engine reads 2 and 3.", version);
  }
  return version;
}

/// `unread` null: tensors of other types are refused.
Result<GgufPart> read_part(const std::shared_ptr<ByteSource>& source, UnreadTensors* unread) {
  GgufCursor cursor(*source);
  TOK_TRY(read_start(cursor));
  TOK_TRY(const auto tensors, cursor.number<uint64_t>("the number of tensors"));
  TOK_TRY(const auto entries, cursor.number<uint64_t>("the number of metadata entries"));
  if (entries > cursor.left() / kMinEntryBytes || tensors > cursor.left() / kMinTensorBytes) {
    return invalid_input(
        "The file claims {} tensors and {} metadata entries, but has only {} bytes.", tensors,
        entries, source->size());
  }
  GgufPart part{.source = source};
  TOK_TRY(part.metadata, read_metadata(cursor, entries, source));

  std::vector<Listed> listed;
  for (uint64_t i = 0; i < tensors; ++i) {
    Listed& one = listed.emplace_back();
    TOK_TRY(one.tensor.name,
            cursor.text(fmt::format("the name of tensor {} of {}", i + 1, tensors)));
    TOK_TRY(check_name("tensor name", one.tensor.name));
    if (auto read = read_tensor(cursor, one, unread != nullptr); !read) {
      return about(one.tensor, read.error());
    }
  }

  uint64_t alignment = 32;
  if (const Json* given = part.metadata.values().find("general.alignment")) {
    alignment = given->is_integer() ? uint64_t(given->as_integer()) : 0;
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
      return invalid_input("general.alignment is {}, expected a power of two of at most {}.",
                           printable(given->dump()), kMaxAlignment);
    }
  }
  const uint64_t data_begin = std::min(round_up(cursor.at(), alignment), source->size());
  measure_unread(listed, source->size() - data_begin);
  for (auto& [tensor, unread_type] : listed) {
    if (auto placed = place_tensor(tensor, data_begin, source->size(), alignment); !placed) {
      return about(tensor, placed.error());
    }
    if (unread_type.empty()) {
      part.tensors.push_back(std::move(tensor));
    } else {
      unread->push_back({.name = std::move(tensor.name),
                         .type = std::move(unread_type),
                         .shape = std::move(tensor.shape),
                         .bytes = tensor.bytes});
    }
  }
  TOK_TRY(check_apart(part.tensors));
  return part;
}

/// A split.* entry; nothing when it is absent.
Result<std::optional<uint32_t>> split_entry(const Json& values, std::string_view key) {
  const Json* value = values.find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_integer() || value->as_integer() < 0 || value->as_integer() > INT32_MAX) {
    return invalid_input("{} is {}, expected a number of files or tensors.", key,
                         printable(value->dump()));
  }
  return uint32_t(value->as_integer());
}

Result<void> read_split(GgufPart& part) {
  const Json& values = part.metadata.values();
  TOK_TRY(const auto number, split_entry(values, "split.no"));
  TOK_TRY(const auto count, split_entry(values, "split.count"));
  TOK_TRY(part.total_tensors, split_entry(values, "split.tensors.count"));
  part.number = number.value_or(0);
  part.count = std::max(count.value_or(1), 1u);  // 0: not split
  if (part.number >= part.count) {
    return invalid_input("split.no is {}, expected less than split.count ({}).", part.number,
                         part.count);
  }
  return {};
}

Result<GgufPart> read_any(const std::shared_ptr<ByteSource>& source, UnreadTensors* unread) {
  auto part = read_part(source, unread);
  if (!part) return Failure(part.error().within(source->name()));
  if (auto split = read_split(*part); !split) return Failure(split.error().within(source->name()));
  return part;
}

}  // namespace

Result<GgufPart> read_gguf_part(std::shared_ptr<ByteSource> source) {
  return read_any(source, nullptr);
}

Result<GgufPart> read_gguf_part(std::shared_ptr<ByteSource> source, UnreadTensors& unread) {
  const size_t before = unread.size();
  TOK_TRY(GgufPart part, read_any(source, &unread));
  if (unread.size() > before) part.total_tensors.reset();  // they are not all here
  return part;
}

}  // namespace tokamak
