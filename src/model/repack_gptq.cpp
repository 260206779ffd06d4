// GPTQ: everything is stored by columns and becomes rows here. The numbers of a column are one
// stream of bits, so those of 3 bits may lie in two words. Layout: AutoGPTQ's QuantLinear.pack
// (auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py).
#include <algorithm>
#include <cstring>

#include "model/number_rows.h"
#include "model/repack.h"

namespace tokamak {
namespace {

/// Rows taken together: their words stand side by side in the file.
constexpr uint64_t kTile = 32;

class GptqRows final : public RowSource {
 public:
  /// `order`: the stored column of each column; empty when they are the same.
  GptqRows(const StoredMatrix& stored, std::vector<uint32_t> order, FileBytes weight,
           FileBytes scales, FileBytes zeros)
      : format_(weight_format(stored.dtype)),
        rows_(stored.rows),
        columns_(stored.columns),
        groups_(stored.columns / format_.group),
        per_stored_(stored.group / format_.group),
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
      } else if (order_.empty() && format_.high_bits() == 0) {
        write_words(first + at, rows, place, stride);
      } else {
        write_numbers(stream, first + at, rows, place, stride);
      }
    }
    return {};
  }

 private:
  void write_words(uint64_t first, uint64_t rows, std::byte* out, size_t stride) const {
    for (uint64_t word = 0; word < columns_ * format_.bits / 32; ++word) {
      const std::byte* from = weight_.data() + (word * rows_ + first) * sizeof(uint32_t);
      for (uint64_t i = 0; i < rows; ++i) {
        std::memcpy(out + i * stride + word * sizeof(uint32_t), from + i * sizeof(uint32_t),
                    sizeof(uint32_t));
      }
    }
  }

  void write_numbers(Stream stream, uint64_t first, uint64_t rows, std::byte* out,
                     size_t stride) const {
    std::vector<uint8_t> q(static_cast<size_t>(columns_));
    for (uint64_t row = first; row < first + rows; ++row, out += stride) {
      const auto word = [&](uint64_t i) { return word_at(weight_, i * rows_ + row); };
      for (size_t column = 0; column < q.size(); ++column) {
        const uint64_t stored = order_.empty() ? column : order_[column];
        q[column] = uint8_t(number_of(word, stored, format_.bits));
      }
      pack_numbers(format_, stream, q, out);
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
    const uint64_t words = rows_ * format_.bits / 32;
    const auto word = [&](uint64_t i) { return word_at(zeros_, group / per_stored_ * words + i); };
    return number_of(word, row, format_.bits);
  }

  void write_zeros(uint64_t first, uint64_t rows, std::byte* out, size_t stride) const {
    for (uint64_t i = 0; i < rows; ++i) {
      for (uint64_t group = 0; group < groups_; ++group) {
        out[i * stride + group] = std::byte(zero(first + i, group));
      }
    }
  }

  const WeightFormat& format_;
  uint64_t rows_, columns_;
  uint64_t groups_, per_stored_;  // groups of the type, of which that many are one of the file
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

Result<ZeroFormat> zero_format(const TensorFile& file, const TensorInfo& zeros, uint32_t bits) {
  TOK_TRY(const FileBytes bytes, file.data(zeros));
  const uint64_t count = bytes.size() * 8 / bits;
  const uint32_t middle = 1u << (bits - 1);
  const auto word = [&](uint64_t i) { return word_at(bytes, i); };
  const uint32_t first = number_of(word, 0, bits);
  if (first != middle && first != middle - 1) return ZeroFormat::kUnknown;
  for (uint64_t i = 1; i < count; ++i) {
    if (number_of(word, i, bits) != first) return ZeroFormat::kUnknown;
  }
  return first == middle ? ZeroFormat::kWhole : ZeroFormat::kOneLess;
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
