// Rows of the variant tables for convolutions over time. Those that mix columns are products of
// what a row sees.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/cpu/arrays.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/variants.h"

namespace tokamak {
namespace {

/// Columns of a short convolution that a piece takes through all rows of a sequence.
constexpr size_t kStrip = 256;

/// A strip of a sequence's columns: its weights by tap, and the last rows of x that it needs.
class ShortConvStrip {
 public:
  ShortConvStrip(const CpuCall& call, const Slot& slot, size_t first)
      : call_(call),
        op_(call.as<ShortConv>()),
        slot_(slot),
        first_(first),
        columns_(call.inputs[1].dims[0]),
        taps_(call.inputs[1].dims[1]),
        count_(std::min(columns_ - first, kStrip)),
        weights_(taps_ * count_),
        rows_(taps_ * count_) {
    const std::span<const float> w = call.inputs[1].f32();
    for (size_t c = 0; c < count_; ++c) {
      for (size_t j = 0; j < taps_; ++j) weights_[j * count_ + c] = w[(first + c) * taps_ + j];
    }
    if (slot.position == 0) return;
    for (size_t j = 0; j + 1 < taps_; ++j) std::ranges::copy(state_row(j), row(j).begin());
  }

  void run() {
    for (size_t t = 0; t < slot_.count; ++t) {
      read(slot_.start + t, row(t + taps_ - 1));
      const std::span<float> y = strip(call_.outputs[0], slot_.start + t, 0);
      if (call_.inputs.size() == 3) {
        std::ranges::copy(call_.inputs[2].f32().subspan(first_, count_), y.begin());
      } else {
        std::ranges::fill(y, 0.0f);
      }
      for (size_t j = 0; j < taps_; ++j) {
        add_products(std::span(weights_).subspan(j * count_, count_), row(t + j), y);
      }
      activate_array(op_.activation, y, y);
      if (op_.gated) multiply_arrays(y, strip(call_.inputs[0], slot_.start + t, columns_), y);
    }
    for (size_t j = 0; j + 1 < taps_; ++j) {
      std::ranges::copy(row(slot_.count + j), state_row(j).begin());
    }
  }

 private:
  /// The strip in row t of a tensor, `after` columns later.
  std::span<float> strip(const CpuTensor& tensor, size_t t, size_t after) const {
    return tensor.f32().subspan(t * tensor.dims[1] + after + first_, count_);
  }
  std::span<float> state_row(size_t j) const {
    return call_.outputs[1].of_slot(slot_.index).f32().subspan(j * columns_ + first_, count_);
  }
  /// Row i of x, counted from the oldest of the state; as many of them are kept as there are taps.
  std::span<float> row(size_t i) { return std::span(rows_).subspan(i % taps_ * count_, count_); }
  void read(size_t t, std::span<float> to) const {
    if (op_.gated) {
      multiply_arrays(strip(call_.inputs[0], t, 0), strip(call_.inputs[0], t, 2 * columns_), to);
    } else {
      std::ranges::copy(strip(call_.inputs[0], t, 0), to.begin());
    }
  }

  const CpuCall& call_;
  const ShortConv& op_;
  const Slot& slot_;
  size_t first_, columns_, taps_, count_;
  std::vector<float> weights_, rows_;
};

void short_conv(const CpuCall& call) {
  const size_t columns = call.inputs[1].dims[0], taps = call.inputs[1].dims[1];
  const size_t strips = ceil_div(columns, kStrip), slots = call.batch.slots();
  const size_t rows = ceil_div(size_t{call.batch.rows()}, slots);
  over_parts(call, slots * strips, (rows * (taps + 16) + taps) * kStrip, [&](size_t part) {
    ShortConvStrip(call, call.batch.slot(uint32_t(part / strips)), part % strips * kStrip).run();
  });
}

/// A row by half_snake.h.
void snake_row(std::span<const float> x, std::span<const float> rates, std::span<float> y) {
  snake_array(x, rates, y);
  for (size_t i = rates.size(); i < x.size(); ++i) y[i] = x[i] < 0 ? 0.01f * x[i] : x[i];
}

void snake_rows(const CpuCall& call, std::span<const float> rates, std::span<float> y) {
  const std::span<const float> x = call.inputs[0].f32();
  const size_t n = call.inputs[0].dims[1];
  over_parts(call, x.size() / n, 32 * n,
             [&](size_t t) { snake_row(x.subspan(t * n, n), rates, y.subspan(t * n, n)); });
}

void half_snake(const CpuCall& call) {
  snake_rows(call, call.inputs[1].f32(), call.outputs[0].f32());
}

/// The elements of x that a row of y sees, in the order of the checkpoint's weights.
struct SeenRows {
  const CausalConv& op;
  std::span<const float> x;
  size_t n, taps;

  void fill(size_t t, size_t start, std::span<float> to) const {
    for (size_t j = 0; j < taps; ++j) {
      const size_t back = (taps - 1 - j) * op.dilation;
      const bool is_there = t - start >= back;
      for (size_t c = 0; c < n; ++c) to[c * taps + j] = is_there ? x[(t - back) * n + c] : 0;
    }
  }
};

/// Rows whose products are computed at once: the elements they see take some 16 MB, and those of a
/// part share the decoded weights. Fewer than kMinSeenRows are summed in another order, and pieces
/// of a sound have the bits of the whole.
constexpr size_t kSeenFloats = size_t{4} << 20, kPartRows = 256, kMinSeenRows = 4;

/// y = seen Wᵀ + bias, of the rows of those numbers.
void multiply_seen(const CpuCall& call, std::span<const float> seen,
                   std::span<const uint32_t> numbers, float* y) {
  const size_t out = call.inputs[2].dims[0], count = numbers.size();
  std::vector<PartProduct> parts;
  for (size_t first = 0; first < count;) {
    const size_t left = count - first;
    const auto own = numbers.subspan(first, left < kPartRows + kMinSeenRows ? left : kPartRows);
    parts.push_back({.count = out, .x_rows = own, .y_rows = own, .y = y, .y_stride = out});
    first += own.size();
  }
  multiply(*call.pool, seen, call.inputs[1], call.inputs[2].f32().data(), parts);
}

void causal_conv(const CpuCall& call) {
  const CausalConv& op = call.as<CausalConv>();
  const size_t n = call.inputs[0].dims[1], out = call.inputs[2].dims[0];
  const size_t seen = call.inputs[1].dims[1], rows = call.batch.rows();
  std::span<const float> x = call.inputs[0].f32();
  std::vector<float> snaked(op.snake ? x.size() : 0);
  if (op.snake) {
    snake_rows(call, call.inputs[3].f32(), snaked);
    x = snaked;
  }
  const SeenRows seen_rows{op, x, n, seen / n};
  const size_t most = ceil_div(kSeenFloats / seen + 1, kPartRows) * kPartRows;
  const size_t at_once = std::max(std::min(rows, most), kMinSeenRows);
  std::vector<float> all_seen(at_once * seen), few(kMinSeenRows * out);
  std::vector<uint32_t> numbers(at_once);
  std::iota(numbers.begin(), numbers.end(), 0u);
  const std::span<float> y = call.outputs[0].f32();
  for (size_t first = 0; first < rows; first += at_once) {
    const size_t count = std::min(rows - first, at_once);
    over_parts(call, count, seen, [&](size_t i) {
      const size_t t = first + i;
      seen_rows.fill(t, call.batch.slot_of(t).start, std::span(all_seen).subspan(i * seen, seen));
    });
    float* const own = y.data() + first * out;
    const bool is_few = count < kMinSeenRows;
    multiply_seen(call, all_seen, std::span(numbers).first(std::max(count, kMinSeenRows)),
                  is_few ? few.data() : own);
    if (is_few) std::copy_n(few.begin(), count * out, own);
  }
  if (!op.adds) return;
  const std::span<const float> r = call.inputs[op.r()].f32();
  over_parts(call, rows, out, [&](size_t t) {
    const std::span<float> own = y.subspan(t * out, out);
    add_arrays(own, r.subspan(t * out, out), own);
  });
}

/// Each element of y meets a few columns of two rows. These lie apart, so that its neighbours meet
/// neighbours.
void transposed_conv(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), w = call.inputs[1].f32();
  const std::span<const float> bias = call.inputs[2].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = call.inputs[0].dims[1], taps = call.inputs[1].dims[1], rate = taps / 2;
  const size_t out = bias.size(), group = n / out;
  std::vector<float> by_tap(w.size());  // [taps, group, out]
  for (size_t c = 0; c < n; ++c) {
    for (size_t p = 0; p < taps; ++p) {
      by_tap[(p * group + c % group) * out + c / group] = w[c * taps + p];
    }
  }
  over_parts(call, call.batch.rows(), 2 * n * taps, [&](size_t t) {
    const bool has_before = t > call.batch.slot_of(t).start;
    std::vector<float> apart(2 * n);  // [this row and the one before, group, out]
    for (size_t c = 0; c < n; ++c) {
      apart[c % group * out + c / group] = x[t * n + c];
      if (has_before) apart[n + c % group * out + c / group] = x[(t - 1) * n + c];
    }
    for (size_t p = 0; p < rate; ++p) {
      const std::span<float> own = y.subspan((t * rate + p) * out, out);
      std::ranges::copy(bias, own.begin());
      for (size_t i = 0; i < group; ++i) {
        const auto weights = [&](size_t tap) {
          return std::span(by_tap).subspan((tap * group + i) * out, out);
        };
        add_products(weights(p), std::span(apart).subspan(i * out, out), own);
        if (has_before) {
          add_products(weights(p + rate), std::span(apart).subspan(n + i * out, out), own);
        }
      }
    }
  });
}

constexpr KernelVariant kVariants[] = {
    vector_row<ShortConv>("short_conv.cpu.vectors", short_conv),
    vector_row<HalfSnake>("half_snake.cpu.vectors", half_snake),
    vector_row<CausalConv>("causal_conv.cpu.vectors", causal_conv),
    vector_row<TransposedConv>("transposed_conv.cpu.vectors", transposed_conv),
};

}  // namespace

std::span<const KernelVariant> vector_conv_variants() {
  return kVariants;
}

}  // namespace tokamak
