// Single values, and the arrays that are read when somebody needs them.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "formats/gguf_cursor.h"
#include "formats/printable.h"

namespace tokamak {
namespace {

template <typename T>
Result<Json> integer(GgufCursor& cursor, std::string_view what) {
  TOK_TRY(const T value, cursor.number<T>(what));
  if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>) {
    if (value > uint64_t{INT64_MAX}) return Json(double(value));  // beyond what Json counts
  }
  return Json(int64_t(value));
}

/// Reads the elements of an array with `read(cursor) -> Result<T>`.
template <typename T, typename Read>
Result<std::vector<T>> elements(const ByteSource& source, const GgufMetadata::Array& array,
                                Read read) {
  GgufCursor cursor(source, array.offset);
  std::vector<T> out;
  out.reserve(size_t(array.count));  // the part's reader has seen as many
  for (uint64_t i = 0; i < array.count; ++i) {
    TOK_TRY(out.emplace_back(), read(cursor));
  }
  return out;
}

}  // namespace

uint32_t gguf_type_bytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  return 0;
}

Result<Json> read_gguf_scalar(GgufCursor& cursor, GgufType type, std::string_view what) {
  switch (type) {
    case GgufType::kU8:
      return integer<uint8_t>(cursor, what);
    case GgufType::kI8:
      return integer<int8_t>(cursor, what);
    case GgufType::kU16:
      return integer<uint16_t>(cursor, what);
    case GgufType::kI16:
      return integer<int16_t>(cursor, what);
    case GgufType::kU32:
      return integer<uint32_t>(cursor, what);
    case GgufType::kI32:
      return integer<int32_t>(cursor, what);
    case GgufType::kU64:
      return integer<uint64_t>(cursor, what);
    case GgufType::kI64:
      return integer<int64_t>(cursor, what);
    case GgufType::kF32: {
      TOK_TRY(const auto value, cursor.number<float>(what));
      return Json(double(value));
    }
    case GgufType::kF64: {
      TOK_TRY(const auto value, cursor.number<double>(what));
      return Json(value);
    }
    case GgufType::kBool: {
      TOK_TRY(const auto value, cursor.number<uint8_t>(what));
      if (value > 1) return invalid_input("{} is a boolean of value {}.", what, value);
      return Json(value == 1);
    }
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  TOK_CHECK(gguf_type_bytes(type) != 0);
  return Json();
}

GgufMetadata::GgufMetadata(std::shared_ptr<ByteSource> source, Json values,
                           std::vector<Array> arrays, Texts broken)
    : source_(std::move(source)),
      values_(std::move(values)),
      arrays_(std::move(arrays)),
      broken_texts_(std::move(broken)) {
  std::ranges::sort(arrays_, {}, &Array::key);
}

const std::string& GgufMetadata::text_bytes(std::string_view key) const {
  const auto broken = std::ranges::find(
      broken_texts_, key, [](const auto& text) -> std::string_view { return text.first; });
  return broken != broken_texts_.end() ? broken->second : values_.find(key)->as_string();
}

const std::string& GgufMetadata::file_name() const {
  static const std::string none;
  return source_ ? source_->name() : none;
}

Result<const GgufMetadata::Array*> GgufMetadata::find(std::string_view key,
                                                      std::string_view expected) const {
  const auto found = std::ranges::lower_bound(
      arrays_, key, {}, [](const Array& array) { return std::string_view(array.key); });
  if (found != arrays_.end() && found->key == key) return &*found;
  const Json* other = values_.find(key);
  if (other == nullptr) return nullptr;
  return invalid_input("{} is {}, expected an array of {}.", key, kind_name(other->kind()),
                       expected);
}

Result<std::vector<std::string>> GgufMetadata::strings(std::string_view key) const {
  TOK_TRY(const Array* array, find(key, "strings"));
  if (array == nullptr) return std::vector<std::string>();
  if (array->type != GgufType::kString) {
    return invalid_input("{} is an array of numbers, expected one of strings.", key);
  }
  uint64_t index = 0;
  return elements<std::string>(*source_, *array, [&](GgufCursor& cursor) -> Result<std::string> {
    TOK_TRY(const std::string_view text, cursor.text(key));
    if (!is_valid_utf8(text)) {
      return invalid_input("Entry {} of {} is not UTF-8 (\"{}\").", index, key, printable(text));
    }
    ++index;
    return std::string(text);
  });
}

Result<std::vector<float>> GgufMetadata::floats(std::string_view key) const {
  TOK_TRY(const Array* array, find(key, "numbers"));
  if (array == nullptr) return std::vector<float>();
  if (array->type == GgufType::kF64) {
    return elements<float>(*source_, *array, [&](GgufCursor& cursor) -> Result<float> {
      TOK_TRY(const double value, cursor.number<double>(key));
      return float(value);
    });
  }
  if (array->type != GgufType::kF32) {
    return invalid_input("{} is an array of another type, expected one of f32 or f64.", key);
  }
  return elements<float>(*source_, *array,
                         [&](GgufCursor& cursor) { return cursor.number<float>(key); });
}

Result<std::vector<int32_t>> GgufMetadata::integers(std::string_view key) const {
  TOK_TRY(const Array* array, find(key, "integers"));
  if (array == nullptr) return std::vector<int32_t>();
  const GgufType type = array->type;
  if (type == GgufType::kString || type == GgufType::kF32 || type == GgufType::kF64) {
    return invalid_input("{} is an array of another type, expected one of integers.", key);
  }
  return elements<int32_t>(*source_, *array, [&](GgufCursor& cursor) -> Result<int32_t> {
    TOK_TRY(const Json value, read_gguf_scalar(cursor, type, key));
    if (value.is_bool()) return int32_t{value.as_bool()};
    if (!value.is_integer() || value.as_integer() != int32_t(value.as_integer())) {
      return invalid_input("{} holds {}, which is beyond 32 bits.", key, value.dump());
    }
    return int32_t(value.as_integer());
  });
}

}  // namespace tokamak
