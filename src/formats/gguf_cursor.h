// Reads the numbers and strings of a GGUF file one after another, never past its end.
#pragma once
#include <cstring>
#include <span>
#include <string_view>

#include "base/result.h"
#include "formats/gguf.h"

namespace tokamak {

class GgufCursor {
 public:
  explicit GgufCursor(std::span<const std::byte> bytes, uint64_t at = 0) : bytes_(bytes), at_(at) {}

  uint64_t at() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }

  /// `what` is named when the file ends inside it.
  template <typename T>
  Result<T> number(std::string_view what) {
    if (left() < sizeof(T)) {
      return invalid_input("The file ends at byte {}, inside {}.", bytes_.size(), what);
    }
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  Result<std::string_view> text(std::string_view what) {
    TOK_TRY(const auto length, number<uint64_t>(what));
    if (length > left()) {
      return invalid_input("The length of {} is {} bytes, but only {} are left in the file.", what,
                           length, left());
    }
    const auto* begin = reinterpret_cast<const char*>(bytes_.data() + at_);
    at_ += length;
    return std::string_view(begin, size_t(length));
  }

  /// REQUIRES: count <= left().
  void skip(uint64_t count) { at_ += count; }

 private:
  std::span<const std::byte> bytes_;
  uint64_t at_;
};

/// Bytes of one element; 0 for strings and arrays.
uint32_t gguf_type_bytes(GgufType type);

/// A number or a boolean. REQUIRES: gguf_type_bytes(type) != 0.
Result<Json> read_gguf_scalar(GgufCursor& cursor, GgufType type, std::string_view what);

}  // namespace tokamak
