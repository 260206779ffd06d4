#include "kernels/latent/latent.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "graph/kv_cache.h"
#include "kernels/attention/attention.h"
#include "kernels/latent/latent_launch.h"
#include "kernels/launch.h"
#include "kernels/linear/matrix_tile.h"
#include "kernels/quant/codec.h"
#include "kernels/workgroup_memory.h"

namespace tokamak {
namespace {

// head_linear

void head_linear_reference(const CpuCall& call) {
  const HeadLinear& op = call.as<HeadLinear>();
  const CpuTensor& w = call.inputs[1];
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t columns = w.dims[1], rows = w.dims[0] / op.heads;
  const size_t in = op.transposed ? rows : columns, out = op.transposed ? columns : rows;
  std::vector<float> row(columns);
  std::vector<double> sums(y.size());
  for (size_t head = 0; head < op.heads; ++head) {
    for (size_t r = 0; r < rows; ++r) {
      w.load_row(head * rows + r, row);
      for (size_t t = 0; t < x.size() / (op.heads * in); ++t) {
        const std::span<const float> own = x.subspan((t * op.heads + head) * in, in);
        const std::span<double> results = std::span(sums).subspan((t * op.heads + head) * out, out);
        if (op.transposed) {
          for (size_t c = 0; c < out; ++c) results[c] += double(own[r]) * row[c];
        } else {
          results[r] = std::inner_product(own.begin(), own.end(), row.begin(), 0.0);
        }
      }
    }
  }
  for (size_t i = 0; i < y.size(); ++i) y[i] = float(sums[i]);
}

struct HeadSizes {
  uint32_t heads, in, out;
};
HeadSizes head_sizes(const Problem& p) {
  const uint32_t heads = p.as<HeadLinear>().heads;
  return {.heads = heads,
          .in = uint32_t(p.inputs[0].shape[1]) / heads,
          .out = uint32_t(p.outputs[0].shape[1]) / heads};
}

std::string refuses_cut(const Problem& p) {
  return p.cut.total == 0 ? "" : "takes whole matrices";
}

std::string wide_refuses(const Problem& p, const DeviceInfo&) {
  const Dim columns = p.inputs[1].shape[1];
  if (columns % 8 != 0) return fmt::format("rows of {} are no multiple of 8", columns);
  return refuses_cut(p);
}

std::string any_refuses(const Problem& p, const DeviceInfo&) {
  const DType dtype = p.inputs[1].dtype;
  if (is_packed(dtype)) return fmt::format("reads weights one by one, not {}", dtype_name(dtype));
  return refuses_cut(p);
}

constexpr uint32_t kMaxRowsAtOnce = 8;

/// Rows of x that a workgroup multiplies, whose weights it reads once.
uint32_t rows_at_once(const Problem& p) {
  return p.inputs[0].shape[0] == kTokens ? power_of_two(p.max_tokens, 1, kMaxRowsAtOnce) : 1;
}

constexpr uint32_t kColumnParts = 16;

Grid head_grid(const Problem& p, uint32_t groups, uint32_t rows) {
  const bool is_per_row = p.inputs[0].shape[0] == kTokens;
  return {.x = {groups}, .y = {head_sizes(p).heads}, .z = {1, is_per_row ? rows : 0}};
}

template <bool kSubgroups>
Launch wide_launch(const Problem& p, const DeviceInfo&) {
  const HeadSizes s = head_sizes(p);
  const bool transposed = p.as<HeadLinear>().transposed;
  // Steps of few rows fill a device by dividing the columns that each sum runs over.
  const bool has_few_rows = p.max_tokens <= 2 * kMaxRowsAtOnce || p.inputs[0].shape[0] != kTokens;
  const uint32_t parts = transposed && has_few_rows ? kColumnParts : 1;
  const uint32_t threads =
      power_of_two((transposed ? s.out : s.in) / 8, parts > 1 ? 16 : 32, parts > 1 ? 16 : 64);
  const uint32_t groups = transposed ? ceil_div(s.out / 8, threads) : ceil_div(s.out, 4u);
  std::vector<std::string> sources = {transposed ? "latent/head_linear_transposed.wgsl"
                                                 : "latent/head_linear.wgsl"};
  Launch launch{.constants = {{"THREADS", threads * parts},
                              {"HEADS", s.heads},
                              {"IN", s.in},
                              {"OUT", s.out},
                              {"ROWS", rows_at_once(p)}},
                .sources = with_reduction(kSubgroups, std::move(sources)),
                .grid = head_grid(p, groups, rows_at_once(p))};
  if (transposed) launch.constants.push_back({"PARTS", parts});
  return with_codec(wide_codec(p.inputs[1]), std::move(launch));
}

/// The tile for as many tokens as the step has.
const MatrixTile& head_tile(const Problem& p, const DeviceInfo& device) {
  const HeadSizes s = head_sizes(p);
  const bool are_few = p.max_tokens <= kSmallTile.tokens() || s.out < kLargeTile.rows();
  return are_few ? few_tile(p.max_tokens) : large_tile(device);
}

std::string matrix_refuses(const Problem& p, const DeviceInfo& device) {
  if (p.inputs[0].shape[0] != kTokens || p.max_tokens <= kMaxRowsAtOnce) {
    return fmt::format("is for more than {} rows", kMaxRowsAtOnce);
  }
  const uint32_t in = head_sizes(p).in;
  if (in % 4 != 0) return fmt::format("heads of {} columns are no multiple of 4", in);
  std::string reason = tile_refuses(head_tile(p, device), device);
  return reason.empty() ? wide_refuses(p, device) : reason;
}

Launch matrix_launch(const Problem& p, const DeviceInfo& device) {
  const HeadSizes s = head_sizes(p);
  const MatrixTile& tile = head_tile(p, device);
  Launch launch{
      .constants = {{"THREADS", tile.threads()}, {"HEADS", s.heads}, {"IN", s.in}, {"OUT", s.out}},
      .sources = {"latent/head_matrix.wgsl"},
      .grid = {.x = {ceil_div(s.out, tile.rows())}, .y = {1, tile.tokens()}, .z = {s.heads}}};
  return with_tile(p, tile, std::move(launch), p.as<HeadLinear>().transposed);
}

Launch any_launch(const Problem& p, const DeviceInfo&) {
  const HeadSizes s = head_sizes(p);
  Launch launch{.constants = {{"THREADS", 64u},
                              {"HEADS", s.heads},
                              {"IN", s.in},
                              {"OUT", s.out},
                              {"TRANSPOSED", uint32_t{p.as<HeadLinear>().transposed}}},
                .sources = {"latent/head_linear_any.wgsl", "wgsl/entry.wgsl"},
                .grid = head_grid(p, ceil_div(s.out, 64u), 1)};
  return with_codec(single_codec(p.inputs[1]), std::move(launch));
}

// latent_append, latent_attention

size_t first_of_cell(const CpuTensor& cache, std::span<const uint32_t> pages, size_t position) {
  const size_t cell = pages[position / kPageTokens] * kPageTokens + position % kPageTokens;
  TOK_CHECK(cell < cache.dims[0]);
  return cell * cache.dims[1];
}

}  // namespace

void latent_append_row(const CpuCall& call, size_t t) {
  constexpr float kMax = 65504;
  const CpuTensor& cache = call.outputs[0];
  size_t at = first_of_cell(cache, pages_of(call, call.inputs[2], t), call.batch.position_of(t));
  for (const CpuTensor& part : std::span(call.inputs).first(2)) {
    for (const float value : part.f32().subspan(t * part.dims[1], part.dims[1])) {
      cache.store(at++, cache.dtype == DType::kF16 ? std::clamp(value, -kMax, kMax) : value);
    }
  }
}

namespace {

void latent_append_reference(const CpuCall& call) {
  for (size_t t = 0; t < call.batch.rows(); ++t) latent_append_row(call, t);
}

void latent_attention_reference(const CpuCall& call) {
  const CpuTensor &ql = call.inputs[0], &qr = call.inputs[1], &cache = call.inputs[2];
  const size_t width = cache.dims[1], heads = (ql.dims[1] + qr.dims[1]) / width;
  const size_t rank = ql.dims[1] / heads, turned = width - rank;
  const LatentAttention& op = call.as<LatentAttention>();
  const size_t splits = op.splits, columns = call.outputs[0].dims[1];
  std::vector<float> query(width);
  std::vector<double> scores, sums(rank);
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const std::span<const uint32_t> pages = pages_of(call, call.inputs[3], t);
    const size_t end = call.batch.position_of(t) + 1, length = ceil_div(end, splits);
    const std::span<float> y = call.outputs[0].f32().subspan(t * columns, columns);
    for (size_t part = 0; part < splits * heads; ++part) {
      const size_t head = t * heads + part % heads, begin = std::min(part / heads * length, end);
      std::ranges::copy(ql.f32().subspan(head * rank, rank), query.begin());
      std::ranges::copy(qr.f32().subspan(head * turned, turned),
                        query.begin() + std::ptrdiff_t(rank));
      scores.clear();
      for (size_t at = begin; at < std::min(begin + length, end); ++at) {
        const size_t cell = first_of_cell(cache, pages, at);
        double score = 0;
        for (size_t i = 0; i < width; ++i) score += double(query[i]) * cache.load(cell + i);
        scores.push_back(score * double(op.scale));
      }
      // A part without cells weighs nothing beside the others.
      double largest = double(std::numeric_limits<float>::lowest()), total = 0;
      for (const double score : scores) largest = std::max(largest, score);
      sums.assign(rank, 0);
      for (size_t at = 0; at < scores.size(); ++at) {
        const double weight = std::exp(scores[at] - largest);
        const size_t cell = first_of_cell(cache, pages, begin + at);
        total += weight;
        for (size_t i = 0; i < rank; ++i) sums[i] += weight * cache.load(cell + i);
      }
      for (size_t i = 0; i < rank; ++i) {
        y[part * rank + i] = float(splits == 1 ? sums[i] / total : sums[i]);
      }
      if (splits == 1) continue;
      y[splits * heads * rank + 2 * part] = float(largest);
      y[splits * heads * rank + 2 * part + 1] = float(total);
    }
  }
}

Launch latent_append_launch(const Problem& p, const DeviceInfo&) {
  const TensorDesc& cache = p.outputs[0];
  const uint32_t rank = uint32_t(p.inputs[0].shape[1]), width = uint32_t(cache.shape[1]);
  return {.constants = {{"THREADS", kMapThreads},
                        {"RANK", rank},
                        {"WIDTH", width},
                        {"PAGES", uint32_t(p.inputs[2].shape[0])}},
          .sources = {cache_source(cache.dtype), "attention/cell_of.wgsl",
                      "latent/latent_append.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(width / 2, kMapThreads)}, .y = {1, 1}}};
}

/// `together`: heads of a workgroup.
Launch attention_launch(const Problem& p, uint32_t threads, uint32_t together, bool subgroups,
                        const char* source) {
  Launch launch = latent_attention_base(p, threads);
  launch.sources =
      with_reduction(subgroups, {cache_source(p.inputs[2].dtype), "attention/cell_of.wgsl",
                                 "latent/latent_queries.wgsl", source});
  launch.grid = {.x = {ceil_div(attention_heads(p), together)},
                 .y = {1, 1},
                 .z = {p.as<LatentAttention>().splits}};
  return launch;
}

constexpr uint32_t kAttentionThreads = 128, kHeadsTogether = 4;

std::string together_refuses(const Problem& p, const DeviceInfo& device) {
  // Four queries, and for every lane a cell, its four weights and what reductions leave.
  return refuse_workgroup_bytes(cell_width(p) * 16 + kAttentionThreads * (4 + 16 + 4 + 16), device);
}

template <bool kSubgroups>
Launch together_launch(const Problem& p, const DeviceInfo&) {
  return attention_launch(p, kAttentionThreads, kHeadsTogether, kSubgroups,
                          "latent/latent_attention.wgsl");
}

constexpr uint32_t kHeadBlock = 128, kMaxHeadThreads = 512;

/// One head for a workgroup reads a cell as often as there are heads, four for each a quarter of
/// that: where these fill the device, they are sooner done.
std::string head_refuses(const Problem& p, const DeviceInfo& device) {
  const uint64_t groups = uint64_t{ceil_div(attention_heads(p), kHeadsTogether)} * p.max_tokens;
  if (groups > 2 * uint64_t{device.size.multiprocessors}) return "is for steps of few rows";
  return refuse_workgroup_bytes(cell_width(p) * 4 + kHeadBlock * 8 + kMaxHeadThreads * (8 + 4 + 16),
                                device);
}

Launch head_launch(const Problem& p, const DeviceInfo& device) {
  const uint32_t threads = std::min(kMaxHeadThreads, device.limits.workgroup_threads);
  const uint32_t rank = uint32_t(p.inputs[0].shape[1]) / attention_heads(p);
  Launch launch = attention_launch(p, threads, 1, true, "latent/latent_attention_head.wgsl");
  launch.constants.push_back({"COLUMN_LANES", power_of_two(rank / 2, 32, threads)});
  launch.constants.push_back({"BLOCK", kHeadBlock});
  return launch;
}

constexpr KernelVariant kLatentVariants[] = {
    {.name = "head_linear.wgsl.matrix",
     .op = op_index<HeadLinear>(),
     .needs = kMatrixFeatures,
     .refuses = matrix_refuses,
     .launch = matrix_launch,
     .rounding = kF16Rounding},
    {.name = "head_linear.wgsl.subgroup",
     .op = op_index<HeadLinear>(),
     .needs = kFeatureSubgroups,
     .refuses = wide_refuses,
     .launch = wide_launch<true>},
    {.name = "head_linear.wgsl",
     .op = op_index<HeadLinear>(),
     .refuses = wide_refuses,
     .launch = wide_launch<false>},
    {.name = "head_linear.wgsl.any",
     .op = op_index<HeadLinear>(),
     .refuses = any_refuses,
     .launch = any_launch},
    {.name = "head_linear.cpu",
     .op = op_index<HeadLinear>(),
     .backend = BackendKind::kCpu,
     .run = head_linear_reference},
    {.name = "latent_append.wgsl", .op = op_index<LatentAppend>(), .launch = latent_append_launch},
    {.name = "latent_append.cpu",
     .op = op_index<LatentAppend>(),
     .backend = BackendKind::kCpu,
     .run = latent_append_reference},
    {.name = "latent_attention.wgsl.fragments",
     .op = op_index<LatentAttention>(),
     .needs = kFragmentFeatures,
     .refuses = latent_fragments_refuse,
     .launch = latent_fragments_launch,
     .rounding = kF16Rounding},
    {.name = "latent_attention.wgsl.head_subgroup",
     .op = op_index<LatentAttention>(),
     .needs = kFeatureSubgroups,
     .refuses = head_refuses,
     .launch = head_launch},
    {.name = "latent_attention.wgsl.subgroup",
     .op = op_index<LatentAttention>(),
     .needs = kFeatureSubgroups,
     .refuses = together_refuses,
     .launch = together_launch<true>},
    {.name = "latent_attention.wgsl",
     .op = op_index<LatentAttention>(),
     .refuses = together_refuses,
     .launch = together_launch<false>},
    {.name = "latent_attention.cpu",
     .op = op_index<LatentAttention>(),
     .backend = BackendKind::kCpu,
     .run = latent_attention_reference},
};

}  // namespace

Launch latent_attention_base(const Problem& p, uint32_t threads) {
  const uint32_t heads = attention_heads(p);
  return {.constants = {{"THREADS", threads},
                        {"HEADS", heads},
                        {"RANK", uint32_t(p.inputs[0].shape[1]) / heads},
                        {"WIDTH", cell_width(p)},
                        {"PAGES", uint32_t(p.inputs[3].shape[0])},
                        {"CELL_PARTS", p.as<LatentAttention>().splits},
                        {"SCALE", p.as<LatentAttention>().scale}},
          .sources = {},
          .grid = {}};
}

std::span<const KernelVariant> latent_variants() {
  return kLatentVariants;
}

}  // namespace tokamak
