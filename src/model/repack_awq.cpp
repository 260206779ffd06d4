// AWQ's "gemm" packing: eight neighbouring rows share a word for each column, and lie in it in an
// order of their own. Layout: AutoAWQ's WQLinear_GEMM.from_linear (awq/modules/linear/gemm.py).
#include <array>
#include <cstring>

#include "model/number_rows.h"

namespace tokamak {
namespace {

/// Which 4 bits of a word are those of row i of eight.
constexpr std::array<uint32_t, 8> kPlaces = {0, 4, 1, 5, 2, 6, 3, 7};

class AwqReader final : public NumberReader {
 public:
  AwqReader(const StoredMatrix& stored, FileBytes weight, FileBytes scales, FileBytes zeros)
      : rows_(stored.rows),
        groups_(stored.columns / weight_format(stored.dtype).group),
        per_stored_(stored.group / weight_format(stored.dtype).group),
        weight_(std::move(weight)),
        scales_(std::move(scales)),
        zeros_(std::move(zeros)) {}

  void numbers(uint64_t row, std::span<uint8_t> q) const override {
    for (size_t column = 0; column < q.size(); ++column) q[column] = number(weight_, column, row);
  }
  void scales(uint64_t row, std::byte* out) const override {
    for (uint64_t group = 0; group < groups_; ++group) {
      std::memcpy(out + 2 * group, scales_.data() + 2 * (group / per_stored_ * rows_ + row), 2);
    }
  }
  void zeros(uint64_t row, std::byte* out) const override {
    for (uint64_t group = 0; group < groups_; ++group) {
      out[group] = std::byte(number(zeros_, group / per_stored_, row));
    }
  }

 private:
  uint8_t number(const FileBytes& from, uint64_t line, uint64_t row) const {
    return uint8_t(word_at(from, (line * rows_ + row) / 8) >> (4 * kPlaces[row % 8]) & 15);
  }

  uint64_t rows_;
  uint64_t groups_, per_stored_;  // groups of the type, of which that many are one of the file
  FileBytes weight_, scales_, zeros_;
};

}  // namespace

Result<std::unique_ptr<RowSource>> open_awq(const TensorFile& file, const StoredMatrix& stored) {
  TOK_TRY(FileBytes weight, file.data(*stored.weight));
  TOK_TRY(FileBytes scales, file.data(*stored.scales));
  TOK_TRY(FileBytes zeros, file.data(*stored.zeros));
  return number_rows(
      std::make_unique<AwqReader>(stored, std::move(weight), std::move(scales), std::move(zeros)),
      stored.dtype, stored.columns);
}

}  // namespace tokamak
