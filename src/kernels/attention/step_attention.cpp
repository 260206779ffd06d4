#include "kernels/attention/step_attention.h"

#include <bit>
#include <optional>

#include "graph/kv_cache.h"
#include "kernels/attention/attention.h"
#include "kernels/launch.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/unroll.h"

namespace tokamak {
namespace {

/// Operands by name; the cache is an output where it is written.
template <typename Operands>
struct Parts {
  const StepAttention& op;
  const Operands &inputs, &outputs;

  const auto& cache() const { return op.appends ? outputs[1] : inputs[2]; }
  size_t pages_index() const { return op.appends ? 2 : 3; }
  bool has_norms() const { return inputs.size() > pages_index() + 1; }
  size_t norms_index() const { return pages_index() + 1; }
};

Parts<std::vector<TensorDesc>> parts(const Problem& p) {
  return {p.as<StepAttention>(), p.inputs, p.outputs};
}

// The reference: head by head, rounded where the ops that it stands for do.

using Head = std::vector<float>;

/// The head of `d` elements that begins at column `start`.
Head head_of_row(const CpuCall& call, size_t t, size_t start, size_t d) {
  const size_t parts = call.as<StepAttention>().parts, all = call.inputs[0].dims[1];
  const std::span<const float> row = call.inputs[0].f32().subspan(t * all, all);
  Head head(d);
  for (size_t i = 0; i < d; ++i) {
    double sum = 0;
    for (size_t p = 0; p < parts; ++p) sum += row[p * (all / parts) + start + i];
    head[i] = float(sum);
  }
  return head;
}

/// The head that begins at column `start`, under norm weights from `weights` on, if it has any.
Head prepared_head(const CpuCall& call, size_t t, size_t start, std::optional<size_t> weights) {
  const auto& op = call.as<StepAttention>();
  const Parts<std::vector<CpuTensor>> p{op, call.inputs, call.outputs};
  const size_t d = head_dim_of(p.cache());
  Head head = head_of_row(call, t, start, d);
  if (weights) {
    rms_norm(head, call.inputs[p.norms_index()].f32().subspan(*weights, d), op.eps, head);
  }
  rotate(head, angles_of(call.inputs[1], call.batch, op.short_rows, t));
  return head;
}

void append(const CpuCall& call, size_t t) {
  const auto& op = call.as<StepAttention>();
  const Parts<std::vector<CpuTensor>> p{op, call.inputs, call.outputs};
  const CpuTensor& cache = p.cache();
  const std::span<const uint32_t> pages = pages_of(call, call.inputs[p.pages_index()], t);
  const size_t position = call.batch.position_of(t);
  const size_t kv = cache.dims[2], d = head_dim_of(cache);
  for (size_t h = 0; h < kv; ++h) {
    const size_t start = (op.heads + h) * d;
    const Head key = prepared_head(call, t, start, p.has_norms() ? std::optional(d) : std::nullopt);
    const size_t value_offset = op.k_is_v ? 0 : kv * d;
    Head value = head_of_row(call, t, start + value_offset, d);
    if (op.norm_v) rms_norm(value, Head(d, 1.0f), op.eps, value);
    store_cached(cache, pages, {position, 0, h}, key);
    store_cached(cache, pages, {position, 1, h}, value);
  }
}

}  // namespace

void prepare_step_attention(const CpuCall& call, size_t t, std::span<float> queries) {
  const auto& op = call.as<StepAttention>();
  const Parts<std::vector<CpuTensor>> p{op, call.inputs, call.outputs};
  if (op.appends) append(call, t);
  const size_t d = head_dim_of(p.cache());
  for (size_t h = 0; h < op.heads; ++h) {
    const Head query =
        prepared_head(call, t, h * d, p.has_norms() ? std::optional<size_t>(0) : std::nullopt);
    std::ranges::copy(query, queries.begin() + std::ptrdiff_t(h * d));
  }
}

StepAttentionCache step_attention_cache(const CpuCall& call) {
  const Parts<std::vector<CpuTensor>> p{call.as<StepAttention>(), call.inputs, call.outputs};
  return {p.cache(), call.inputs[p.pages_index()]};
}

namespace {

void reference(const CpuCall& call) {
  const auto& op = call.as<StepAttention>();
  const Parts<std::vector<CpuTensor>> p{op, call.inputs, call.outputs};
  const CpuTensor& cache = p.cache();
  const size_t d = head_dim_of(cache), heads = op.heads, splits = op.splits;
  std::vector<float> queries(heads * d);
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    prepare_step_attention(call, t, queries);
    const std::span<const uint32_t> pages = pages_of(call, call.inputs[p.pages_index()], t);
    const size_t columns = call.outputs[0].dims[1];
    const std::span<float> y = call.outputs[0].f32().subspan(t * columns, columns);
    const size_t position = call.batch.position_of(t), end = position + 1;
    const size_t first = first_seen(position, op.window, op.chunks),
                 length = ceil_div(end - first, splits);
    for (size_t h = 0; h < heads; ++h) {
      const std::span<const float> query = std::span(queries).subspan(h * d, d);
      for (size_t s = 0; s < splits; ++s) {
        const size_t begin = std::min(first + s * length, end);
        const KeyRange keys{h / (heads / cache.dims[2]), begin, std::min(begin + length, end)};
        const Attended seen = attend(query, cache, pages, keys, op.scale, op.softcap);
        for (size_t i = 0; i < d; ++i) {
          y[(s * heads + h) * d + i] =
              float(splits == 1 ? seen.sums[i] / seen.total : seen.sums[i]);
        }
        if (splits == 1) continue;
        y[splits * heads * d + 2 * (s * heads + h)] = seen.largest;
        y[splits * heads * d + 2 * (s * heads + h) + 1] = float(seen.total);
      }
    }
  }
}

// The kernel.

/// Lanes that share a key, at most `most`, so that each has the same number of units: of long heads
/// at least two, which takes a shuffle less.
uint32_t lanes_per_key(const Problem& p, uint32_t most) {
  const uint32_t units = head_dim_of(parts(p).cache()) / uint32_t(StepAttention::kPart);
  return std::min(units & (0 - units), units < 32 ? most : std::min(most, units / 2));
}

std::string refuses(const Problem& p, const DeviceInfo&) {
  if (p.max_tokens > 1 && !p.decodes) return "is for one token of a sequence";
  const uint32_t head_dim = head_dim_of(parts(p).cache());
  if (head_dim % StepAttention::kPart != 0) {
    return fmt::format("head_dim = {} is no multiple of {}", head_dim, StepAttention::kPart);
  }
  if (head_dim > StepAttention::kMaxHeadDim) {
    return fmt::format("head_dim = {} exceeds {}", head_dim, StepAttention::kMaxHeadDim);
  }
  return "";
}

template <uint32_t kMax>
std::string subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  std::string reason = refuses(p, device);
  return reason.empty() ? lacks_lanes(device, kMax) : reason;
}

/// How the cache is read and written. `span` lanes reach each other by shuffles.
std::vector<std::string> cache_sources(const Problem& p, uint32_t span) {
  const auto operands = parts(p);
  const bool appends = operands.op.appends, is_q8 = operands.cache().dtype == kQ8Cache;
  std::vector<std::string> sources = {
      fmt::format("attention/unit_{}.wgsl", cache_type_name(operands.cache().dtype)),
      appends ? "attention/step_appends.wgsl" : "attention/step_reads.wgsl"};
  if (appends) {
    sources.push_back(is_q8 ? "attention/append_q8.wgsl" : "attention/flat_append.wgsl");
  }
  if (!is_q8) {
    sources.push_back("attention/flat_units.wgsl");
    return sources;
  }
  sources.insert(sources.end(), {"attention/cache_q8.wgsl", "attention/steps_q8.wgsl",
                                 span > 0 ? "attention/lanes_max_subgroup.wgsl"
                                          : "attention/lanes_max_memory.wgsl"});
  return sources;
}

/// The constants of every kernel whose workgroups make `queries` heads ready with `threads` lanes,
/// of which `span` reach each other by shuffles.
Launch base_launch(const Problem& p, uint32_t threads, uint32_t queries, uint32_t span) {
  const auto operands = parts(p);
  const StepAttention& op = operands.op;
  const TensorDesc& cache = operands.cache();
  const uint32_t kv = uint32_t(cache.shape[2]), d = head_dim_of(parts(p).cache());
  const uint32_t prepared = queries + (op.appends ? 2 : 0);
  const uint32_t own_pairs = ceil_div(prepared * d / 2, threads);
  Launch launch{.constants = {{"THREADS", threads},
                              {"QUERIES", queries},
                              {"PREPARED_HEADS", prepared},
                              {"OWN_PAIRS", own_pairs},
                              {"HEADS", op.heads},
                              {"KV_HEADS", kv},
                              {"VALUE_HEADS", op.k_is_v ? 0 : kv},
                              {"HEAD_DIM", d},
                              {"ROW_COLUMNS", uint32_t(p.inputs[0].shape[1]) / op.parts},
                              {"PARTS", op.parts},
                              {"PAGES", uint32_t(p.inputs[operands.pages_index()].shape[0])},
                              {"ROTARY", uint32_t(p.inputs[1].shape[1])},
                              {"SHORT_ROWS", op.short_rows},
                              {"WINDOW", op.window},
                              {"SCALE", op.scale},
                              {"SOFTCAP", op.softcap},
                              {"SPLITS", op.splits}},
                .sources = cache_sources(p, span),
                .grid = {.x = {op.heads / queries}, .y = {op.splits}, .z = {1, 1}}};
  launch.sources.insert(
      launch.sources.end(),
      {"attention/cell_of.wgsl", positions_source(op.chunks), "attention/softcap.wgsl",
       "attention/store_sums.wgsl", "attention/prepared_heads.wgsl", "attention/step_keys.wgsl",
       // More pairs would not be in registers.
       own_pairs <= kMaxRounds ? "attention/heads_at_once.wgsl"
                               : "attention/heads_one_by_one.wgsl"});
  if (operands.has_norms()) {
    // Lanes that reach each other add up squares so, too.
    const uint32_t pairs = d / 2, lanes_per_sum = std::min(pairs & (0 - pairs), span);
    launch.constants.insert(launch.constants.end(),
                            {{"EPS", op.eps},
                             {"PARTIALS", lanes_per_sum > 0 ? pairs / lanes_per_sum : 8},
                             {"NORM_V", op.norm_v ? 1u : 0u},
                             {"NORMS_BINDING", uint32_t(1 + operands.norms_index())}});
    if (span > 0) launch.constants.push_back({"LANE_SUM_STEPS", doublings(lanes_per_sum)});
    launch.sources.push_back("attention/head_norms.wgsl");
    launch.sources.push_back(lanes_per_sum > 0 ? "attention/head_squares_subgroup.wgsl"
                                               : "attention/head_squares_memory.wgsl");
  } else {
    launch.sources.push_back("attention/no_head_norms.wgsl");
  }
  return launch;
}

/// A workgroup has at most `max_threads`. `span` lanes merge what they have by themselves; 0:
/// those that share a key only.
Launch launch(const Problem& p, const DeviceInfo& device, uint32_t max_threads, uint32_t max_lanes,
              uint32_t span, const char* sums_lanes) {
  const auto operands = parts(p);
  const StepAttention& op = operands.op;
  const TensorDesc& cache = operands.cache();
  const uint32_t kv = uint32_t(cache.shape[2]), d = head_dim_of(parts(p).cache());
  const uint32_t lanes = lanes_per_key(p, max_lanes),
                 own = d / uint32_t(StepAttention::kPart) / lanes;
  // Queries that share their keys' loads, as long as there are workgroups enough, and registers for
  // their sums. Rows of a batch have a workgroup each for every key head, and as soon as that is
  // enough, few lanes, which merge less, are as busy as many (H100, docs/history/performance.md).
  const uint32_t rows = p.decodes ? p.max_tokens : 1;
  const uint32_t enough = device.size.groups(rows > 1 ? 4 : 2);
  const uint32_t groups = op.heads * op.splits * rows;
  uint32_t queries = 1;
  for (uint32_t q = 2; q <= op.heads / kv && q * own <= 8; ++q) {
    if (op.heads / kv % q == 0 && groups / q >= enough) queries = q;
  }
  if (rows > 1 && groups / queries >= enough) max_threads = std::min(max_threads, 64u);
  // The sums of all groups must fit into 8 KiB of workgroup memory, and those of a lane into its
  // registers. Lanes that merge theirs do so as whole subgroups; others may be few.
  const uint32_t fit = std::min(2048 * std::max(span, lanes) / d, 512 / own);
  const uint32_t threads = power_of_two(fit, span > 0 ? std::max(lanes, 32u) : lanes, max_threads);
  // A number of keys an iteration that keeps some eight loads in flight in a lane.
  const uint32_t keys = std::max(1u, 4 / own);
  // Groups that are left when lanes have merged theirs.
  const uint32_t merged = threads / std::max(span, lanes);
  Launch launch = base_launch(p, threads, queries, span);
  launch.constants.insert(launch.constants.end(), {{"LANES", lanes},
                                                   {"SPAN", std::max(span, lanes)},
                                                   {"MERGED", merged},
                                                   {"SUMS", merged},
                                                   {"OWN", own},
                                                   {"KEYS", keys},
                                                   {"LOADS", keys * own},
                                                   {"HELD", queries * own}});
  if (span > 0) {
    launch.constants.push_back({"LANE_STEPS", doublings(lanes)});
    launch.constants.push_back({"MERGE_STEPS", doublings(std::max(span, lanes) / lanes)});
  }
  launch.sources.insert(launch.sources.end(),
                        {sums_lanes, "attention/step_attention.wgsl", "wgsl/entry.wgsl"});
  return launch;
}

// step_attention_shared: all heads that share a key head in one workgroup.

uint32_t heads_of_key(const Problem& p) {
  return parts(p).op.heads / uint32_t(parts(p).cache().shape[2]);
}

template <uint32_t kSpan>
std::string shared_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = refuses(p, device); !reason.empty()) return reason;
  const uint32_t d = head_dim_of(parts(p).cache()), lanes = d / uint32_t(StepAttention::kPart);
  if (lanes > kSpan || !std::has_single_bit(lanes)) {
    return fmt::format("head_dim = {} is no power of two up to {}", d,
                       kSpan * StepAttention::kPart);
  }
  const uint32_t queries = heads_of_key(p);
  // More would not be in registers.
  if (queries < 2 || queries > std::min(4u, lanes)) {
    return fmt::format("{} heads share a key head, it takes 2 to {}", queries, std::min(4u, lanes));
  }
  if (parts(p).op.splits < StepAttention::kLongContextSplits) {
    return fmt::format("is for long contexts, whose keys are in {} splits",
                       StepAttention::kLongContextSplits);
  }
  return lacks_lanes(device, kSpan);
}

template <uint32_t kSpan>
Launch shared_launch(const Problem& p, const DeviceInfo&) {
  const uint32_t d = head_dim_of(parts(p).cache());
  const uint32_t lanes = d / uint32_t(StepAttention::kPart), queries = heads_of_key(p);
  const uint32_t held = std::bit_ceil(queries);
  // The sums of all queries of that many subgroups fit into 12 KiB, padding included.
  const uint32_t fit = 12288 / (queries * (d + 32) * uint32_t(sizeof(float)));
  const uint32_t merged = power_of_two(fit, 1, 256 / 32);
  Launch launch = base_launch(p, merged * kSpan, queries, kSpan);
  launch.constants.insert(launch.constants.end(), {{"LANES", lanes},
                                                   {"SPAN", kSpan},
                                                   {"LANE_STEPS", doublings(lanes)},
                                                   {"MERGE_STEPS", doublings(kSpan / lanes)},
                                                   {"MERGED", merged},
                                                   {"SUMS", merged * queries},
                                                   {"OWN", 1u},
                                                   {"KEYS", 4u},
                                                   {"LOADS", 4u},
                                                   {"HELD", held},
                                                   {"HELD_STEPS", doublings(held)}});
  launch.sources.insert(launch.sources.end(),
                        {"attention/step_attention_shared.wgsl", "wgsl/entry.wgsl"});
  return launch;
}

std::string software_refuses(const Problem& p, const DeviceInfo& device) {
  return device.software ? subgroup_refuses<8>(p, device) : kNotSoftware;
}

template <uint32_t kMax, uint32_t kMaxThreads = 256>
Launch subgroup_launch(const Problem& p, const DeviceInfo& device) {
  return launch(p, device, kMaxThreads, kMax, kMax, "attention/lanes_subgroup.wgsl");
}
Launch plain_launch(const Problem& p, const DeviceInfo& device) {
  return launch(p, device, 64, 8, 0, "attention/lanes_memory.wgsl");
}

constexpr size_t kOp = op_index<StepAttention>();

constexpr KernelVariant kStepAttentionVariants[] = {
    {.name = "step_attention.wgsl.software",  // where lanes take turns on a core
     .op = kOp,
     .needs = kFeatureSubgroups,
     .refuses = software_refuses,
     .launch = subgroup_launch<8, 32>},
    {.name = "step_attention.wgsl.shared32",
     .op = kOp,
     .needs = kFeatureSubgroups,
     .refuses = shared_refuses<32>,
     .launch = shared_launch<32>},
    {.name = "step_attention.wgsl.subgroup32",
     .op = kOp,
     .needs = kFeatureSubgroups,
     .refuses = subgroup_refuses<32>,
     .launch = subgroup_launch<32>},
    {.name = "step_attention.wgsl.shared8",
     .op = kOp,
     .needs = kFeatureSubgroups,
     .refuses = shared_refuses<8>,
     .launch = shared_launch<8>},
    {.name = "step_attention.wgsl.subgroup8",
     .op = kOp,
     .needs = kFeatureSubgroups,
     .refuses = subgroup_refuses<8>,
     .launch = subgroup_launch<8>},
    {.name = "step_attention.wgsl", .op = kOp, .refuses = refuses, .launch = plain_launch},
    {.name = "step_attention.cpu", .op = kOp, .backend = BackendKind::kCpu, .run = reference},
};

}  // namespace

std::span<const KernelVariant> step_attention_variants() {
  return kStepAttentionVariants;
}

}  // namespace tokamak
