#include "model/weights.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "model/repack.h"

namespace tokamak {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;

/// Rows of one checkpoint tensor.
struct Part {
  std::unique_ptr<RowSource> source;
  uint64_t first = 0, rows = 0;
  uint64_t head = 0;  // rows of a head where the file has them turned, else 0

  /// The row of the file that is row `row` of this part: see WeightPart.
  uint64_t file_row(uint64_t row) const {
    row += first;
    if (head == 0) return row;
    const uint64_t in_head = row % head, half = head / 2;
    return row - in_head + 2 * (in_head % half) + in_head / half;
  }

  void write(Stream stream, uint64_t at, uint64_t count, std::byte* out, size_t stride) const {
    if (head == 0) return source->write(stream, first + at, count, out, stride);
    for (uint64_t i = 0; i < count; ++i) {
      source->write(stream, file_row(at + i), 1, out + size_t(i) * stride, stride);
    }
  }
};

/// Columns of a constant's rows; a vector is a matrix of one column.
uint64_t columns_of(const TensorDesc& constant) {
  uint64_t columns = 1;
  for (size_t i = 1; i < constant.shape.size(); ++i) columns *= uint64_t(constant.shape[i]);
  return columns;
}

/// Plain tensors of any number of dimensions are rows as long as the constant's.
Result<StoredMatrix> locate_part(const TensorFile& file, const std::string& name,
                                 uint64_t columns) {
  const TensorInfo* info = file.find(name);
  if (info == nullptr || !is_float_weight(info->dtype)) return locate(file, name, columns);
  StoredMatrix found{.dtype = info->dtype, .columns = columns, .weight = info};
  found.rows = info->elements() / columns;
  if (found.rows * columns == info->elements()) return found;
  return invalid_input("{}: tensor \"{}\" is {}, expected rows of {}.", file.file_name(*info), name,
                       describe(*info), columns);
}

Result<Part> open_part(const TensorFile& file, const WeightPart& part, const TensorDesc& constant,
                       bool add_one) {
  TOK_TRY(const StoredMatrix stored, locate_part(file, part.name, columns_of(constant)));
  const auto wrong = [&](const std::string& expected) {
    return invalid_input("{}: tensor \"{}\" is {}, expected {}.", file.file_name(*stored.weight),
                         stored.weight->name, describe(*stored.weight), expected);
  };
  Part out{.source = nullptr, .first = part.first_row, .rows = part.rows};
  if (part.rows == 0) out.rows = stored.rows;
  if (out.first + out.rows > stored.rows) {
    return wrong(fmt::format("at least {} rows", out.first + out.rows));
  }
  if (part.rope_heads != 0) {
    out.head = stored.rows / part.rope_heads;
    if (out.head * part.rope_heads != stored.rows || out.head == 0 || out.head % 2 != 0) {
      return wrong(fmt::format("rows in {} heads of an even number", part.rope_heads));
    }
  }
  TOK_TRY(out.source, open_rows(file, stored, constant.dtype, add_one));
  return out;
}

class Writer {
 public:
  Writer(const TensorDesc& constant, const std::vector<Part>& parts, const WriteBytes& write)
      : constant_(constant), parts_(parts), write_(write) {}

  Result<void> run(RowOrder order) {
    for (const Stream stream : kStreams) {
      row_ = size_t(row_bytes(constant_.dtype, stream, columns_of(constant_)));
      if (row_ == 0) continue;
      uint64_t rows = 0;
      if (order == RowOrder::kInterleave) {
        TOK_TRY(interleaved(stream));
        rows = parts_[0].rows * parts_.size();
      } else {
        for (const Part& part : parts_) {
          TOK_TRY(whole(stream, part));
          rows += part.rows;
        }
      }
      // Streams begin at multiples of 16.
      piece_.assign(is_packed(constant_.dtype) ? size_t(-(rows * row_) % 16) : 0, std::byte{0});
      if (!piece_.empty()) TOK_TRY(write_(piece_));
    }
    return {};
  }

 private:
  /// Rows of one part that make a piece.
  uint64_t piece_rows(size_t row) const { return std::max<uint64_t>(1, kPieceBytes / row); }

  Result<void> whole(Stream stream, const Part& part) {
    for (uint64_t at = 0; at < part.rows; at += piece_rows(row_)) {
      const uint64_t count = std::min(piece_rows(row_), part.rows - at);
      const auto view = part.head != 0 ? std::span<const std::byte>()
                                       : part.source->view(stream, part.first + at, count);
      if (!view.empty()) {
        TOK_TRY(write_(view));
        continue;
      }
      piece_.resize(size_t(count) * row_);
      part.write(stream, at, count, piece_.data(), row_);
      TOK_TRY(write_(piece_));
    }
    return {};
  }

  /// Rows of the parts in turn: part 0's first, part 1's first, part 0's second, ...
  Result<void> interleaved(Stream stream) {
    const size_t stride = parts_.size() * row_;
    const uint64_t rows = parts_[0].rows;
    for (uint64_t at = 0; at < rows; at += piece_rows(stride)) {
      const uint64_t count = std::min(piece_rows(stride), rows - at);
      piece_.resize(size_t(count) * stride);
      for (size_t i = 0; i < parts_.size(); ++i) {
        parts_[i].write(stream, at, count, piece_.data() + i * row_, stride);
      }
      TOK_TRY(write_(piece_));
    }
    return {};
  }

  const TensorDesc& constant_;
  const std::vector<Part>& parts_;
  const WriteBytes& write_;
  size_t row_ = 0;  // bytes of a row in the stream at hand
  std::vector<std::byte> piece_;
};

Result<void> read_weight(const TensorFile& file, const TensorDesc& constant, const Weight& weight,
                         const WriteBytes& write) {
  std::vector<Part> parts;
  uint64_t rows = 0;
  for (const WeightPart& part : weight.parts) {
    TOK_TRY(Part opened, open_part(file, part, constant, weight.add_one));
    rows += opened.rows;
    if (weight.order == RowOrder::kInterleave && !parts.empty()) {
      TOK_CHECK(opened.rows == parts[0].rows);  // gate_up joins equals only
    }
    parts.push_back(std::move(opened));
  }
  if (rows != uint64_t(constant.shape[0])) {
    return invalid_input("The parts of \"{}\" have {} rows, expected {}.", constant.name, rows,
                         constant.shape[0]);
  }
  return Writer(constant, parts, write).run(weight.order);
}

Result<std::vector<uint32_t>> read_order(const TensorFile& file, const std::string& groups,
                                         uint64_t columns) {
  if (groups.empty()) {
    std::vector<uint32_t> order(static_cast<size_t>(columns));
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }
  constexpr std::string_view kGroups = ".g_idx";
  TOK_CHECK(groups.ends_with(kGroups));  // of locate()
  const std::string name = groups.substr(0, groups.size() - kGroups.size());
  TOK_TRY(const StoredMatrix stored, locate(file, name + ".weight", columns));
  TOK_CHECK(stored.groups != nullptr);
  return column_order(file, stored);
}

Result<void> read_orders(const TensorFile& file, const TensorDesc& constant,
                         const ColumnOrder& recipe, const WriteBytes& write) {
  for (const std::string& groups : recipe.groups) {
    TOK_TRY(const std::vector<uint32_t> order,
            read_order(file, groups, uint64_t(constant.shape.back())));
    TOK_TRY(write(std::as_bytes(std::span(order))));
  }
  return {};
}

/// As long as the context, so it comes in pieces too.
Result<void> write_rope_table(const TensorDesc& constant, const RopeTable& recipe,
                              const WriteBytes& write) {
  const uint32_t rows = uint32_t(constant.shape[0]);
  const size_t row_bytes = std::max<size_t>(1, recipe.inverse_frequencies.size() * 2) * 4;
  const uint32_t piece = uint32_t(std::max<size_t>(1, kPieceBytes / row_bytes));
  for (uint32_t first = 0; first < rows; first += std::min(piece, rows - first)) {
    const std::vector<float> values = rope_table(recipe, std::min(piece, rows - first), first);
    TOK_TRY(write(std::as_bytes(std::span(values))));
  }
  return {};
}

}  // namespace

Result<void> read_constant(const TensorFile& file, const TensorDesc& constant,
                           const WriteBytes& write) {
  if (const auto* table = std::get_if<RopeTable>(&constant.recipe)) {
    return write_rope_table(constant, *table, write);
  }
  if (const auto* fill = std::get_if<Fill>(&constant.recipe)) {
    const std::vector<float> values(size_t(element_count(constant.shape, 1)), fill->value);
    return write(std::as_bytes(std::span(values)));
  }
  if (const auto* order = std::get_if<ColumnOrder>(&constant.recipe)) {
    return read_orders(file, constant, *order, write);
  }
  const auto* weight = std::get_if<Weight>(&constant.recipe);
  TOK_CHECK(weight != nullptr);
  return read_weight(file, constant, *weight, write);
}

}  // namespace tokamak
