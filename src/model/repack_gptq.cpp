// GPTQ: everything is stored by columns and becomes rows here. Layout: AutoGPTQ's QuantLinear.pack
// (auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py).
#include <algorithm>
#include <cstring>

#include "model/repack.h"

namespace tokamak {
namespace {

/// Rows taken together: their words stand side by side in the file.
constexpr uint64_t kTile = 32;

uint32_t word_at(std::span<const std::byte> bytes, uint64_t i) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
  return word;
}

class GptqRows final : public RowSource {
 public:
  /// `order`: the stored column of each column; empty when they are the same.
  GptqRows(const StoredMatrix& stored, std::vector<uint32_t> order, FileBytes weight,
           FileBytes scales, FileBytes zeros)
      : rows_(stored.rows),
        columns_(stored.columns),
        groups_(stored.columns / weight_format(stored.dtype).group),
        per_stored_(stored.group / weight_format(stored.dtype).group),
        one_less_(stored.whole_zeros ? 1 : 0),
        order_(std::move(order)),
        weight_(std::move(weight)),
        scales_(std::move(scales)),
        zeros_(std::move(zeros)) {}

  Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    for (uint64_t at = 0; at < count; at += kTile) {
      const uint64_t rows = std::min(kTile, count - at);
      std::byte* place = out + at * stride;
      if (stream == Stream::kScales) {
        write_scales(first + at, rows, place, stride);
      } else if (stream == Stream::kZeros) {
        write_zeros(first + at, rows, place, stride);
      } else if (order_.empty()) {
        write_words(first + at, rows, place, stride);
      } else {
        write_ordered(first + at, rows, place, stride);
      }
    }
    return {};
  }

 private:
  void write_words(uint64_t first, uint64_t rows, std::byte* out, size_t stride) const {
    for (uint64_t word = 0; word < columns_ / 8; ++word) {
      const std::byte* from = weight_.data() + (word * rows_ + first) * sizeof(uint32_t);
      for (uint64_t i = 0; i < rows; ++i) {
        std::memcpy(out + i * stride + word * sizeof(uint32_t), from + i * sizeof(uint32_t),
                    sizeof(uint32_t));
      }
    }
  }

  uint32_t q(uint64_t row, uint64_t column) const {
    const uint32_t stored = order_[size_t(column)];
    return (word_at(weight_, stored / 8 * rows_ + row) >> (stored % 8 * 4)) & 15;
  }

  void write_ordered(uint64_t first, uint64_t rows, std::byte* out, size_t stride) const {
    for (uint64_t pair = 0; pair < columns_ / 2; ++pair) {
      for (uint64_t i = 0; i < rows; ++i) {
        out[i * stride + pair] =
            std::byte(q(first + i, 2 * pair) | q(first + i, 2 * pair + 1) << 4);
      }
    }
  }

  void write_scales(uint64_t first, uint64_t rows, std::byte* out, size_t stride) const {
    for (uint64_t group = 0; group < groups_; ++group) {
      const std::byte* from = scales_.data() + (group / per_stored_ * rows_ + first) * 2;
      for (uint64_t i = 0; i < rows; ++i) {
        std::memcpy(out + i * stride + group * 2, from + i * 2, 2);
      }
    }
  }

  uint32_t zero(uint64_t row, uint64_t group) const {
    const uint32_t word = word_at(zeros_, group / per_stored_ * (rows_ / 8) + row / 8);
    return ((word >> (row % 8 * 4)) & 15) - one_less_;
  }

  void write_zeros(uint64_t first, uint64_t rows, std::byte* out, size_t stride) const {
    for (uint64_t i = 0; i < rows; ++i) {
      for (uint64_t group = 0; group < groups_; ++group) {
        out[i * stride + group] = std::byte(zero(first + i, group));
      }
    }
  }

  uint64_t rows_, columns_;
  uint64_t groups_, per_stored_;  // groups of the type, of which that many are one of the file
  uint32_t one_less_;  // the difference to the zeros of the type, which are one too small
  std::vector<uint32_t> order_;
  FileBytes weight_, scales_, zeros_;  // whole: a row has something everywhere in them
};

}  // namespace

Result<bool> counts_up(const TensorFile& file, const TensorInfo& groups, uint64_t size) {
  TOK_TRY(const FileBytes bytes, file.data(groups));
  for (uint64_t i = 0; i < bytes.size() / sizeof(uint32_t); ++i) {
    if (word_at(bytes, i) != i / size) return false;
  }
  return true;
}

Result<bool> all_zeros_are_middle(const TensorFile& file, const TensorInfo& zeros) {
  TOK_TRY(const FileBytes bytes, file.data(zeros));
  for (uint64_t i = 0; i < bytes.size() / sizeof(uint32_t); ++i) {
    if (word_at(bytes, i) != 0x88888888) return false;
  }
  return true;
}

Result<std::vector<uint32_t>> column_order(const TensorFile& file, const StoredMatrix& stored) {
  TOK_TRY(const FileBytes bytes, file.data(*stored.groups));
  const uint64_t groups = stored.columns / stored.group;
  std::vector<uint32_t> next(
      static_cast<size_t>(groups));  // where the next column of each group goes
  for (size_t i = 0; i < next.size(); ++i) next[i] = uint32_t(i * stored.group);
  std::vector<uint32_t> order(static_cast<size_t>(stored.columns));
  for (uint64_t column = 0; column < stored.columns; ++column) {
    const uint32_t group = word_at(bytes, column);
    if (group >= groups) {
      return invalid_input("{}: tensor \"{}\" puts column {} into group {}, expected one of {}.",
                           file.file_name(*stored.groups), stored.groups->name, column,
                           int32_t(group), groups);
    }
    if (next[group] == (group + 1) * stored.group) {
      return invalid_input("{}: tensor \"{}\" puts more than {} columns into group {}.",
                           file.file_name(*stored.groups), stored.groups->name, stored.group,
                           group);
    }
    order[next[group]++] = uint32_t(column);
  }
  return order;
}

Result<std::unique_ptr<RowSource>> open_gptq(const TensorFile& file, const StoredMatrix& stored) {
  std::vector<uint32_t> order;
  if (stored.groups != nullptr) {
    TOK_TRY(order, column_order(file, stored));
  }
  TOK_TRY(FileBytes weight, file.data(*stored.weight));
  TOK_TRY(FileBytes scales, file.data(*stored.scales));
  TOK_TRY(FileBytes zeros, file.data(*stored.zeros));
  return std::make_unique<GptqRows>(stored, std::move(order), std::move(weight), std::move(scales),
                                    std::move(zeros));
}

}  // namespace tokamak
