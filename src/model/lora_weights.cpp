#include <algorithm>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "base/packing.h"
#include "model/lora.h"
#include "model/repack.h"

namespace tokamak {
namespace {

/// The bytes that are copied at once, like in read_constant().
constexpr uint64_t kPieceBytes = uint64_t{512} << 10;
/// Pieces and shares begin at multiples of that many rows, so their bytes at multiples of 4.
constexpr uint64_t kRowUnit = 4;

/// Rows of a stack, found part by part.
class Rows {
 public:
  Rows(const TensorFile& file, const TensorDesc& constant, const LoraStack& stack)
      : file_(file), constant_(constant), stack_(stack) {
    for (const LoraPart& part : stack.parts) {
      begins_.push_back(rows_);
      rows_ += part.rows;
    }
  }

  uint64_t count() const { return rows_; }

  /// `out` has a row's bytes.
  Result<void> write(uint64_t row, std::span<std::byte> out) const {
    std::ranges::fill(out, std::byte{0});
    const size_t index = size_t(std::ranges::upper_bound(begins_, row) - begins_.begin()) - 1;
    const LoraPart& part = stack_.parts[index];
    const uint64_t local = row - begins_[index];
    if (part.tensor.empty() || local + part.zeros >= part.rows) return {};
    const TensorInfo* info = file_.find(part.tensor);
    TOK_CHECK(info != nullptr && info->shape.size() == 2);  // add_adapters() has found it
    const uint64_t own = part.first_row + local, width_of_row = info->shape[1];
    if (own >= info->shape[0]) return {};
    const bool is_cut = stack_.columns.whole != 0;
    TOK_CHECK(!is_cut || stack_.columns.whole == width_of_row);
    const uint64_t first = is_cut ? stack_.columns.first : 0;
    const uint64_t columns = is_cut ? stack_.columns.count : width_of_row;
    TOK_TRY(const TensorBytes bytes, file_.pieces(*info));
    const size_t width = dtype_bytes(info->dtype);
    TOK_TRY(const FileBytes values,
            bytes.view((own * width_of_row + first) * width, columns * width));
    std::vector<float> floats(size_t{columns});
    for (size_t i = 0; i < columns; ++i) {
      floats[i] = part.factor * number_at(info->dtype, values.data() + i * width);
    }
    store_floats(constant_.dtype, floats, out.data());
    return {};
  }

 private:
  const TensorFile& file_;
  const TensorDesc& constant_;
  const LoraStack& stack_;
  std::vector<uint64_t> begins_;  // of the parts
  uint64_t rows_ = 0;
};

}  // namespace

Result<void> read_lora_stack(const TensorFile& file, const TensorDesc& constant, Share share,
                             const WriteBytes& write) {
  const Rows rows(file, constant, std::get<LoraStack>(constant.recipe));
  TOK_CHECK(rows.count() == uint64_t(constant.shape[0]));
  const auto begin_of = [&](uint64_t index) {
    return index == share.count ? rows.count()
                                : rows.count() * index / share.count / kRowUnit * kRowUnit;
  };
  const size_t row_bytes = size_t(constant.shape[1]) * dtype_bytes(constant.dtype);
  const uint64_t most = std::max(kPieceBytes / row_bytes / kRowUnit, uint64_t{1}) * kRowUnit;
  std::vector<std::byte> piece;
  const uint64_t end = begin_of(share.index + 1);
  for (uint64_t at = begin_of(share.index); at < end;) {
    const uint64_t count = std::min(most, end - at);
    piece.resize(size_t(count) * row_bytes);
    for (size_t i = 0; i < count; ++i) {
      TOK_TRY(rows.write(at + i, std::span(piece).subspan(i * row_bytes, row_bytes)));
    }
    TOK_TRY(write(at * row_bytes, piece));
    at += count;
  }
  return {};
}

}  // namespace tokamak
