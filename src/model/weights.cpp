#include "model/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "base/packing.h"
#include "model/lora.h"
#include "model/repack.h"

namespace tokamak {
namespace {

/// So much is copied at once: what one stream is made of is still in the processor's cache when the
/// next one is.
constexpr uint64_t kPieceBytes = uint64_t{512} << 10;

/// Pieces and shares begin at multiples of that many rows, so that their bytes begin at multiples
/// of 4 whatever a row has.
constexpr uint64_t kRowUnit = 4;

/// The beginning of a share, the end of the one before. Index `count` begins after the last row.
uint64_t share_begin(uint64_t rows, uint64_t index, uint64_t count) {
  return index == count ? rows : rows * index / count / kRowUnit * kRowUnit;
}

/// Rows of one checkpoint tensor, and their places in the constant.
struct Part {
  std::unique_ptr<RowSource> source;
  uint64_t first = 0, rows = 0;
  uint64_t there = 0;            // of the rows, in the file; zeros follow
  uint64_t head = 0;             // rows of a head where the file has them turned, else 0
  uint64_t kept = 0;             // of those the first ones, which lie as they are
  uint64_t place = 0, step = 1;  // row i of the part is row place + i * step of the constant

  /// The part's rows that come before row `row` of the constant.
  uint64_t before(uint64_t row) const {
    return row <= place ? 0 : std::min(rows, ceil_div(row - place, step));
  }

  /// The row of the file that is row `row` of this part: see WeightPart.
  uint64_t file_row(uint64_t row) const {
    row += first;
    if (head == 0) return row;
    if (row % head < kept) return row;
    const uint64_t turned = row % head - kept, half = (head - kept) / 2;
    return row - turned + 2 * (turned % half) + turned / half;
  }

  /// Rows of `bytes` each.
  Result<void> write(Stream stream, uint64_t at, uint64_t count, std::byte* out, size_t stride,
                     size_t bytes) const {
    const uint64_t read = at < there ? std::min(count, there - at) : 0;
    for (uint64_t i = read; i < count; ++i) std::memset(out + size_t(i) * stride, 0, bytes);
    return read == 0 ? Result<void>() : write_there(stream, at, read, out, stride);
  }

  Result<void> write_there(Stream stream, uint64_t at, uint64_t count, std::byte* out,
                           size_t stride) const {
    if (head == 0) return source->write(stream, first + at, count, out, stride);
    for (uint64_t i = 0; i < count; ++i) {
      TOK_TRY(source->write(stream, file_row(at + i), 1, out + size_t(i) * stride, stride));
    }
    return {};
  }

  Result<FileBytes> view(Stream stream, uint64_t at, uint64_t count) const {
    const bool is_there = head == 0 && at + count <= there;
    return is_there ? source->view(stream, first + at, count) : FileBytes();
  }
};

/// Columns of a constant's rows; a vector is a matrix of one column.
uint64_t columns_of(const TensorDesc& constant) {
  uint64_t columns = 1;
  for (size_t i = 1; i < constant.shape.size(); ++i) columns *= uint64_t(constant.shape[i]);
  return columns;
}

/// Plain tensors of any number of dimensions are rows as long as the constant's.
Result<StoredMatrix> locate_part(const TensorFile& file, const WeightPart& part, uint64_t columns) {
  const std::string& name = part.name;
  const TensorInfo* info = file.find(name);
  if (info == nullptr || !is_float_weight(info->dtype)) return locate(file, name, columns);
  StoredMatrix found{.dtype = info->dtype,
                     .columns = columns,
                     .transposed = part.transposed || is_transposed(*info, columns),
                     .weight = info};
  found.rows = info->elements() / columns;
  if (found.rows * columns == info->elements()) return found;
  return invalid_input("{}: tensor \"{}\" is {}, expected rows of {}.", file.file_name(*info), name,
                       describe(*info), columns);
}

Result<Part> open_part(const TensorFile& file, const WeightPart& part, const TensorDesc& constant,
                       const Weight& weight) {
  TOK_CHECK(part.cut.is_whole() && weight.column_cut.is_whole());  // of_rank() has resolved them
  const ColumnRange& range = weight.columns;
  const uint64_t columns = columns_of(constant);
  TOK_TRY(const StoredMatrix stored,
          locate_part(file, part, range.whole != 0 ? range.whole : columns));
  const auto wrong = [&](const std::string& expected) {
    return invalid_input("{}: tensor \"{}\" is {}, expected {}.", file.file_name(*stored.weight),
                         stored.weight->name, describe(*stored.weight), expected);
  };
  Part out{.source = nullptr, .first = part.first_row, .rows = part.rows};
  if (part.rows == 0) out.rows = stored.rows;
  out.there = out.rows - part.zeros;
  if (out.first + out.there > stored.rows) {
    return wrong(fmt::format("at least {} rows", out.first + out.there));
  }
  if (part.rope_heads != 0) {
    out.head = stored.rows / part.rope_heads;
    if (out.head * part.rope_heads != stored.rows || out.head == 0 || out.head % 2 != 0) {
      return wrong(fmt::format("rows in {} heads of an even number", part.rope_heads));
    }
    if (part.turned % 2 != 0 || part.turned > out.head) {
      return wrong(fmt::format("heads whose last {} rows turn", part.turned));
    }
    if (part.turned != 0) out.kept = out.head - part.turned;
  }
  const DType type = part.dtype.value_or(constant.dtype);
  TOK_TRY(out.source, open_rows(file, stored, type, {weight.add_one, part.factor}));
  if (range.whole != 0) out.source = slice_columns(std::move(out.source), type, range, columns);
  if (type != constant.dtype) {
    out.source = widen_rows(std::move(out.source), type, columns);
  }
  return out;
}

/// Writes rows of a constant, some at a time and all of their streams together.
class Writer {
 public:
  Writer(const TensorDesc& constant, const std::vector<Part>& parts, const WriteBytes& write)
      : parts_(parts), write_(write), rows_(uint64_t(constant.shape[0])) {
    const uint64_t columns = columns_of(constant);
    uint64_t all = 0;
    for (const Stream stream : kStreams) {
      row_[size_t(stream)] = row_bytes(constant.dtype, stream, columns);
      all += row_[size_t(stream)];
    }
    begin_.fill(rows_ * all);
    begin_[0] = 0;
    if (is_packed(constant.dtype))
      begin_ = stream_offsets(weight_format(constant.dtype), rows_, columns);
    piece_rows_ = std::max(kPieceBytes / all / kRowUnit, uint64_t{1}) * kRowUnit;
  }

  Result<void> run(Share share) {
    const uint64_t end = share_begin(rows_, share.index + 1, share.count);
    for (uint64_t at = share_begin(rows_, share.index, share.count); at < end;) {
      const uint64_t next = piece_end(at, end);
      for (const Stream stream : kStreams) TOK_TRY(write(stream, at, next - at));
      at = next;
    }
    return {};
  }

 private:
  /// A piece ends with its part where it may: so it is a view where there are views.
  uint64_t piece_end(uint64_t at, uint64_t end) const {
    end = std::min(end, at + piece_rows_);
    for (const Part& part : parts_) {
      const uint64_t last = part.place + part.rows;
      if (part.step == 1 && last > at && last % kRowUnit == 0) end = std::min(end, last);
    }
    return end;
  }

  Result<void> write(Stream stream, uint64_t at, uint64_t count) {
    const uint64_t row = row_[size_t(stream)], offset = begin_[size_t(stream)] + at * row;
    if (row == 0) return {};
    // The last rows bring the zeros before the next stream.
    const bool is_last = at + count == rows_;
    const uint64_t size = is_last ? begin_[size_t(stream) + 1] - offset : count * row;
    for (const Part& part : parts_) {
      const uint64_t first = part.before(at);
      if (part.before(at + count) - first != count) continue;
      TOK_TRY(const FileBytes view, part.view(stream, first, count));
      if (view.size() == size) return write_(offset, view);
    }
    if (piece_.size() < size) piece_.resize(size_t(size));
    const std::span<std::byte> piece = std::span(piece_).first(size_t(size));
    for (const Part& part : parts_) {
      const uint64_t first = part.before(at), rows = part.before(at + count) - first;
      if (rows == 0) continue;
      const uint64_t place = part.place + first * part.step - at;
      std::byte* const out = piece.data() + place * row;
      TOK_TRY(part.write(stream, first, rows, out, size_t(part.step * row), size_t(row)));
    }
    std::ranges::fill(piece.subspan(size_t(count * row)), std::byte{0});
    return write_(offset, piece);
  }

  const std::vector<Part>& parts_;
  const WriteBytes& write_;
  uint64_t rows_, piece_rows_;
  std::array<uint64_t, kStreams.size()> row_{};        // bytes of a row in each stream
  std::array<uint64_t, kStreams.size() + 1> begin_{};  // of each stream, and the end of the last
  std::vector<std::byte> piece_;
};

Result<void> read_weight(const TensorFile& file, const TensorDesc& constant, const Weight& weight,
                         Share share, const WriteBytes& write) {
  std::vector<Part> parts;
  uint64_t rows = 0;
  for (const WeightPart& part : weight.parts) {
    TOK_TRY(Part opened, open_part(file, part, constant, weight));
    opened.place = rows;
    if (weight.order == RowOrder::kInterleave) {
      if (!parts.empty()) TOK_CHECK(opened.rows == parts[0].rows);  // gate_up joins equals only
      opened.place = parts.size();
      opened.step = weight.parts.size();
    }
    rows += opened.rows;
    parts.push_back(std::move(opened));
  }
  if (rows != uint64_t(constant.shape[0])) {
    return invalid_input("The parts of \"{}\" have {} rows, expected {}.", constant.name, rows,
                         constant.shape[0]);
  }
  return Writer(constant, parts, write).run(share);
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
                         const ColumnOrder& recipe, Share share, const WriteBytes& write) {
  if (share.index > 0) return {};
  std::vector<uint32_t> orders;
  for (const std::string& groups : recipe.groups) {
    TOK_TRY(const std::vector<uint32_t> order,
            read_order(file, groups, uint64_t(constant.shape.back())));
    orders.insert(orders.end(), order.begin(), order.end());
  }
  return write(0, std::as_bytes(std::span(orders)));
}

Result<void> read_weight_norm(const TensorFile& file, const TensorDesc& constant,
                              const WeightNorm& recipe, Share share, const WriteBytes& write) {
  const TensorInfo* const magnitude = file.find(recipe.magnitude);
  const TensorInfo* const direction = file.find(recipe.direction);
  TOK_CHECK(magnitude != nullptr && direction != nullptr);  // of the same file as the graph
  const uint64_t rows = uint64_t(constant.shape[0]), columns = columns_of(constant);
  const size_t each = dtype_bytes(direction->dtype), length_bytes = dtype_bytes(magnitude->dtype);
  TOK_TRY(const FileBytes lengths, file.data(*magnitude));
  TOK_TRY(const TensorBytes directions, file.pieces(*direction));
  const uint64_t piece = std::max<uint64_t>(1, kPieceBytes / (columns * sizeof(float)));
  const uint64_t end = share_begin(rows, share.index + 1, share.count);
  std::vector<float> values;
  for (uint64_t at = share_begin(rows, share.index, share.count); at < end; at += piece) {
    const uint64_t count = std::min(piece, end - at);
    TOK_TRY(const FileBytes bytes, directions.view(at * columns * each, count * columns * each));
    const size_t width = size_t(columns);
    values.resize(size_t(count) * width);
    for (size_t row = 0; row < count; ++row) {
      const std::span<float> own = std::span(values).subspan(row * width, width);
      double squares = 0;
      for (size_t i = 0; i < width; ++i) {
        own[i] = number_at(direction->dtype, bytes.data() + (row * width + i) * each);
        squares += double(own[i]) * own[i];
      }
      const double length =
          number_at(magnitude->dtype, lengths.data() + (size_t(at) + row) * length_bytes);
      for (float& value : own) value = float(value * (length / std::sqrt(squares)));
    }
    TOK_TRY(write(at * columns * sizeof(float), std::as_bytes(std::span(values))));
  }
  return {};
}

/// A table as long as the context, so it comes in pieces too. `content`: of some rows from one on.
Result<void> write_table(const TensorDesc& constant, const auto& content, Share share,
                         const WriteBytes& write) {
  const uint64_t rows = uint64_t(constant.shape[0]);
  const uint64_t row_bytes = std::max<uint64_t>(1, uint64_t(constant.shape[1])) * sizeof(float);
  const uint64_t piece = std::max<uint64_t>(1, kPieceBytes / row_bytes);
  const uint64_t end = share_begin(rows, share.index + 1, share.count);
  for (uint64_t at = share_begin(rows, share.index, share.count); at < end; at += piece) {
    const std::vector<float> values = content(uint32_t(std::min(piece, end - at)), uint32_t(at));
    TOK_TRY(write(at * row_bytes, std::as_bytes(std::span(values))));
  }
  return {};
}

}  // namespace

Result<void> read_constant(const TensorFile& file, const TensorDesc& constant, Share share,
                           const WriteBytes& write) {
  if (const auto* table = std::get_if<RopeTable>(&constant.recipe)) {
    const auto content = [&](uint32_t rows, uint32_t first) {
      return rope_table(*table, rows, first);
    };
    return write_table(constant, content, share, write);
  }
  if (const auto* slopes = std::get_if<Slopes>(&constant.recipe)) {
    const auto content = [&](uint32_t rows, uint32_t first) {
      return slope_table(*slopes, uint32_t(constant.shape[0]), rows, first);
    };
    return write_table(constant, content, share, write);
  }
  if (const auto* fill = std::get_if<Fill>(&constant.recipe)) {
    const std::vector<float> values(size_t(element_count(constant.shape, 1)), fill->value);
    return write_whole(std::as_bytes(std::span(values)), share, write);
  }
  if (const auto* order = std::get_if<ColumnOrder>(&constant.recipe)) {
    return read_orders(file, constant, *order, share, write);
  }
  if (const auto* norm = std::get_if<WeightNorm>(&constant.recipe)) {
    return read_weight_norm(file, constant, *norm, share, write);
  }
  if (std::holds_alternative<LoraStack>(constant.recipe)) {
    return read_lora_stack(file, constant, share, write);
  }
  const auto* weight = std::get_if<Weight>(&constant.recipe);
  TOK_CHECK(weight != nullptr);
  return read_weight(file, constant, *weight, share, write);
}

}  // namespace tokamak
