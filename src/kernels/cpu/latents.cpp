// Rows of the variant tables for attention to latents: cells are the keys of one key head, and
// their values, too.
#include <algorithm>
#include <vector>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/states.h"
#include "kernels/cpu/tile_variants.h"
#include "kernels/cpu/transposed_products.h"
#include "kernels/cpu/variants.h"

namespace tokamak {
namespace {

/// Each head is a part of one multiply(), with its rows of the matrix and of x.
template <ProductWay kWay>
void head_linear(const CpuCall& call) {
  const CpuTensor& w = call.inputs[1];
  const size_t heads = call.as<HeadLinear>().heads, out = w.dims[0] / heads;
  const size_t tokens = call.inputs[0].dims[0];
  std::vector<uint32_t> rows(heads * tokens);
  std::vector<PartProduct> parts;
  for (size_t head = 0; head < heads; ++head) {
    const std::span<uint32_t> own = std::span(rows).subspan(head * tokens, tokens);
    for (size_t t = 0; t < tokens; ++t) own[t] = uint32_t(t * heads + head);
    parts.push_back({.first = head * out,
                     .count = out,
                     .x_rows = own,
                     .y_rows = own,
                     .y = call.outputs[0].f32().data(),
                     .y_stride = out});
  }
  multiply(*call.pool, call.inputs[0].f32(), w, nullptr, parts, unit_of(kWay));
}

std::string refuses_transposed(const Problem& p, const DeviceInfo&) {
  return p.as<HeadLinear>().transposed ? "is for matrices as they are" : "";
}

std::string exact_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = refuses_transposed(p, device);
  return reason.empty() ? refuses_exact(p, device) : reason;
}

std::string tiles_refuse(const Problem& p, const DeviceInfo& device) {
  std::string reason = refuses_transposed(p, device);
  return reason.empty() ? refuses_tiles(p, device) : reason;
}

/// Strips of each head's columns, whose rows are decoded for all tokens.
void transposed_packed(const CpuCall& call) {
  constexpr size_t kStrip = 2 * kBlockColumns;
  const CpuTensor& w = call.inputs[1];
  const size_t heads = call.as<HeadLinear>().heads, in = w.dims[0] / heads, out = w.dims[1];
  const size_t tokens = call.inputs[0].dims[0], strips = ceil_div(out, kStrip);
  over_parts(call, heads * strips, in * kStrip * (tokens + 4), [&](size_t piece) {
    const size_t head = piece / strips, first = piece % strips * kStrip;
    multiply_transposed({.layout = w.panels,
                         .panels = w.data,
                         .first_row = head * in,
                         .rows = in,
                         .first_column = first,
                         .columns = std::min(out - first, kStrip),
                         .tokens = tokens,
                         .x = call.inputs[0].f32().data() + head * in,
                         .x_stride = heads * in,
                         .y = call.outputs[0].f32().data() + head * out + first,
                         .y_stride = heads * out});
  });
}

/// Row after row of each head's matrix, which is read once for all tokens.
void transposed_head_linear(const CpuCall& call) {
  const CpuTensor& w = call.inputs[1];
  if (w.panels != nullptr && w.panels->code != PanelCode::kFloats) return transposed_packed(call);
  const size_t heads = call.as<HeadLinear>().heads, in = w.dims[0] / heads, out = w.dims[1];
  const size_t tokens = call.inputs[0].dims[0];
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  over_parts(call, heads, in * out * tokens, [&](size_t head) {
    for (size_t t = 0; t < tokens; ++t) {
      std::ranges::fill(y.subspan((t * heads + head) * out, out), 0.0f);
    }
    std::vector<float> row(out);
    for (size_t r = 0; r < in; ++r) {
      w.load_row(head * in + r, row);
      for (size_t t = 0; t < tokens; ++t) {
        const size_t at = t * heads + head;
        add_scaled(row, x[at * in + r], y.subspan(at * out, out));
      }
    }
  });
}

std::string transposed_refuses(const Problem& p, const DeviceInfo&) {
  return p.as<HeadLinear>().transposed ? "" : "is for transposed matrices";
}

void latent_attention(const CpuCall& call) {
  const CpuTensor &ql = call.inputs[0], &qr = call.inputs[1];
  CpuTensor cells = call.inputs[2];
  const size_t width = cells.dims[1], heads = (ql.dims[1] + qr.dims[1]) / width;
  const size_t rank = ql.dims[1] / heads, turned = width - rank, count = call.batch.rows();
  // A cache with one part: see load_block().
  cells.dims = {cells.dims[0], 1, 1, uint32_t(width)};
  std::vector<float> queries(count * heads * width), sums(queries.size());
  std::vector<AttentionRow> rows;
  for (size_t t = 0; t < count; ++t) {
    for (size_t head = t * heads; head < (t + 1) * heads; ++head) {
      float* const query = queries.data() + head * width;
      std::copy_n(ql.f32().data() + head * rank, rank, query);
      std::copy_n(qr.f32().data() + head * turned, turned, query + rank);
    }
    const size_t position = call.batch.position_of(t);
    rows.push_back({.queries = queries.data() + t * heads * width,
                    .pages = pages_of(call, call.inputs[3], t),
                    .begin = 0,
                    .end = position + 1,
                    .position = position});
  }
  const AttentionWork work{.cache = &cells,
                           .heads = heads,
                           .scale = call.as<LatentAttention>().scale,
                           .divides_keys = call.max_rows <= kFewRows};
  attend_rows(*call.pool, work, rows, sums);
  for (size_t head = 0; head < count * heads; ++head) {
    std::copy_n(sums.data() + head * width, rank, call.outputs[0].f32().data() + head * rank);
  }
}

std::string parts_refuse(const Problem& p, const DeviceInfo&) {
  return p.as<LatentAttention>().splits == 1 ? "" : "keeps positions together";
}

constexpr KernelVariant kVariants[] = {
    with_refusal(tile_row<HeadLinear>("head_linear.cpu.tiles", head_linear<ProductWay::kTiles>),
                 tiles_refuse),
    with_refusal(vector_row<HeadLinear>("head_linear.cpu.vectors",
                                        head_linear<ProductWay::kVectors>, kWordRounding),
                 refuses_transposed),
    with_refusal(exact_row<HeadLinear>("head_linear.cpu.exact", head_linear<ProductWay::kVectors>),
                 exact_refuses),
    with_refusal(vector_row<HeadLinear>("head_linear.cpu.transposed", transposed_head_linear),
                 transposed_refuses),
    with_refusal(vector_row<LatentAttention>("latent_attention.cpu.vectors", latent_attention),
                 parts_refuse),
};

}  // namespace

std::span<const KernelVariant> vector_latent_variants() {
  return kVariants;
}

}  // namespace tokamak
