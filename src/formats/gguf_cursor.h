// Reads the numbers and strings of a GGUF file one after another, never past its end, and no more
// of it than it needs.
#pragma once
#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/result.h"
#include "formats/byte_source.h"
#include "formats/gguf.h"

namespace tokamak {

class GgufCursor {
 public:
  /// REQUIRES: the source outlives it.
  explicit GgufCursor(const ByteSource& source, uint64_t at = 0) : source_(&source), at_(at) {}

  uint64_t at() const { return at_; }
  uint64_t left() const { return source_->size() - at_; }

  /// `what` is named when the file ends inside it.
  template <typename T>
  Result<T> number(std::string_view what) {
    if (left() < sizeof(T)) {
      return invalid_input("The file ends at byte {}, inside {}.", source_->size(), what);
    }
    TOK_TRY(const std::byte* const bytes, take(sizeof(T)));
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  /// Valid until the next call. A text that is longer than any model needs is an error.
  Result<std::string_view> text(std::string_view what) {
    TOK_TRY(const auto length, number<uint64_t>(what));
    if (length > left()) {
      return invalid_input("The length of {} is {} bytes, but only {} are left in the file.", what,
                           length, left());
    }
    if (length > kMaxTextBytes) {
      return invalid_input("The length of {} is {} bytes, expected at most {}.", what, length,
                           kMaxTextBytes);
    }
    TOK_TRY(const std::byte* const bytes, take(length));
    return std::string_view(reinterpret_cast<const char*>(bytes), size_t(length));
  }

  /// REQUIRES: count <= left().
  void skip(uint64_t count) { at_ += count; }

 private:
  static constexpr uint64_t kMaxTextBytes = uint64_t{64} << 20;
  static constexpr uint64_t kWindowBytes = uint64_t{256} << 10;

  /// REQUIRES: count <= left().
  Result<const std::byte*> take(uint64_t count) {
    const uint64_t size = window_.size();
    if (at_ < window_at_ || at_ - window_at_ > size || size - (at_ - window_at_) < count) {
      TOK_TRY(window_, source_->view(at_, std::min(left(), std::max(count, kWindowBytes))));
      window_at_ = at_;
    }
    const std::byte* const bytes = window_.data() + (at_ - window_at_);
    at_ += count;
    return bytes;
  }

  const ByteSource* source_;
  uint64_t at_;
  FileBytes window_;  // of the source, and where it begins there
  uint64_t window_at_ = 0;
};

/// FileBytes of one element; 0 for strings and arrays.
uint32_t gguf_type_bytes(GgufType type);

/// A number or a boolean. REQUIRES: gguf_type_bytes(type) != 0.
Result<Json> read_gguf_scalar(GgufCursor& cursor, GgufType type, std::string_view what);

}  // namespace tokamak
