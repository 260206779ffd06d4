#include "kernels/attention/attention.h"

#include <cmath>

#include "graph/kv_cache.h"
#include "kernels/launch.h"
#include "kernels/library/library.h"
#include "kernels/workgroup_memory.h"

namespace tokamak {

std::span<const uint32_t> pages_of(const CpuCall& call, const CpuTensor& tables, size_t row) {
  return tables.of_slot(call.batch.slot_of(row).index).u32();
}

size_t first_seen(size_t position, size_t window, bool chunks) {
  if (window == 0 || position < window) return 0;
  return chunks ? position / window * window : position + 1 - window;
}

size_t first_seen(const CpuCall& call, size_t t) {
  const Attention& op = call.as<Attention>();
  if (attention_has_spans(call)) return call.inputs[3].u32()[2 * t];
  return first_seen(call.batch.position_of(t), op.window, op.chunks);
}

double DistanceBias::of(size_t key) const {
  if (numbers.empty()) return 0;
  const auto radius = std::ptrdiff_t(numbers.size() / heads / 2);
  const std::ptrdiff_t distance = std::ptrdiff_t(key) - std::ptrdiff_t(position);
  return numbers[size_t(radius + std::clamp(distance, -radius, radius)) * heads + head];
}

Attended attend(std::span<const float> query, const CpuTensor& cache,
                std::span<const uint32_t> pages, const KeyRange& keys, float scale, float softcap,
                const DistanceBias& bias) {
  Attended out{.sums = std::vector<double>(query.size())};
  std::vector<float> held(query.size());
  std::vector<double> scores;
  for (size_t at = keys.begin; at < keys.end; ++at) {
    load_cached(cache, pages, {at, 0, keys.head}, held);
    double score = 0;
    for (size_t i = 0; i < query.size(); ++i) score += double(query[i]) * held[i];
    score *= scale;
    if (softcap > 0) score = softcap * std::tanh(score / softcap);
    score += bias.of(at);
    scores.push_back(score);
    out.largest = std::max(out.largest, float(score));
  }
  for (size_t at = keys.begin; at < keys.end; ++at) {
    const double weight = std::exp(scores[at - keys.begin] - double(out.largest));
    load_cached(cache, pages, {at, 1, keys.head}, held);
    out.total += weight;
    for (size_t i = 0; i < query.size(); ++i) out.sums[i] += weight * held[i];
  }
  return out;
}

bool attention_has_ends(const CpuCall& call) {
  return call.inputs.size() == 4 && call.inputs[3].dtype == DType::kU32;
}

bool attention_has_spans(const CpuCall& call) {
  return attention_has_ends(call) && call.inputs[3].dims.size() == 2;
}

size_t end_seen(const CpuCall& call, size_t t) {
  const Attention& op = call.as<Attention>();
  if (attention_has_spans(call)) return call.inputs[3].u32()[2 * t + 1];
  const size_t position = call.batch.position_of(t), window = op.window;
  size_t end = position + 1;
  if (!op.causal) {
    const Slot& slot = call.batch.slot_of(t);
    end = slot.position + slot.count;
    if (window > 0) end = std::min(end, position + window);
  }
  if (attention_has_ends(call)) {
    end = std::max<size_t>(op.causal ? end : 0, call.inputs[3].u32()[t]);
  }
  return end;
}

void kv_append_row(const CpuCall& call, size_t t) {
  const CpuTensor& cache = call.outputs[0];
  const size_t heads = cache.dims[2], head_dim = head_dim_of(cache);
  const std::span<const uint32_t> pages = pages_of(call, call.inputs[2], t);
  for (size_t part = 0; part < 2; ++part) {
    const std::span<const float> x = call.inputs[part].f32();
    for (size_t h = 0; h < heads; ++h) {
      store_cached(cache, pages, {call.batch.position_of(t), part, h},
                   x.subspan((t * heads + h) * head_dim, head_dim));
    }
  }
}

namespace {

void kv_append_reference(const CpuCall& call) {
  for (size_t t = 0; t < call.batch.rows(); ++t) kv_append_row(call, t);
}

/// The fourth operand is the ends or the spans of rows, sinks or a bias by distance.
bool has_ends(const Problem& p) {
  return p.inputs.size() == 4 && p.inputs[3].dtype == DType::kU32;
}
bool has_spans(const Problem& p) {
  return has_ends(p) && p.inputs[3].shape.size() == 2;
}
bool has_sinks(const Problem& p) {
  return p.inputs.size() == 4 && !has_ends(p) && p.inputs[3].shape.size() == 1;
}
bool has_bias(const Problem& p) {
  return p.inputs.size() == 4 && !has_ends(p) && !has_sinks(p);
}

/// The texts of where what a row sees begins and ends.
std::vector<std::string> seen_sources(const Problem& p) {
  if (has_spans(p)) return {"attention/spans.wgsl"};
  const Attention& op = p.as<Attention>();
  std::vector<std::string> sources = {positions_source(op.chunks)};
  if (!has_ends(p)) {
    sources.emplace_back("attention/until.wgsl");
  } else {
    sources.emplace_back(op.causal ? "attention/until_ends.wgsl"
                                   : "attention/until_only_ends.wgsl");
  }
  return sources;
}

void attention_reference(const CpuCall& call) {
  const Attention& op = call.as<Attention>();
  const CpuTensor& cache = call.inputs[1];
  const size_t columns = call.inputs[0].dims[1], head_dim = head_dim_of(cache);
  const size_t heads = columns / head_dim, group = heads / cache.dims[2];
  std::span<const float> bias, sinks;
  if (call.inputs.size() == 4 && !attention_has_ends(call)) {
    (call.inputs[3].dims.size() == 1 ? sinks : bias) = call.inputs[3].f32();
  }
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const size_t position = call.batch.position_of(t);
    const size_t first = first_seen(call, t), end = end_seen(call, t);
    for (size_t head = 0; head < heads; ++head) {
      const size_t at = t * columns + head * head_dim;
      const KeyRange keys{head / group, first, end};
      Attended seen = attend(call.inputs[0].f32().subspan(at, head_dim), cache,
                             pages_of(call, call.inputs[2], t), keys, op.scale, op.softcap,
                             {.numbers = bias, .heads = heads, .head = head, .position = position});
      if (!sinks.empty()) seen.total += std::exp(double(sinks[head]) - double(seen.largest));
      for (size_t i = 0; i < head_dim; ++i) {
        store_half(call.outputs[0], at + i, float(seen.sums[i] / seen.total));
      }
    }
  }
}

/// Appends q8: a head a workgroup, whose elements have its step in common.
Launch append_q8_launch(const Problem& p) {
  const TensorDesc& cache = p.outputs[0];
  const uint32_t kv_heads = uint32_t(cache.shape[2]), head_dim = head_dim_of(cache);
  return {
      .constants = {{"THREADS", power_of_two(head_dim / 4, 8, 32)},
                    {"KV_HEADS", kv_heads},
                    {"HEAD_DIM", head_dim},
                    {"PAGES", uint32_t(p.inputs[2].shape[0])}},
      .sources = with_reduction(false, {cache_source(cache.dtype), "attention/cell_of.wgsl",
                                        "attention/steps_q8.wgsl", "attention/kv_append_q8.wgsl"}),
      .grid = {.x = {2 * kv_heads}, .y = {1, 1}}};
}

Launch kv_append_launch(const Problem& p, const DeviceInfo&) {
  const TensorDesc& cache = p.outputs[0];
  if (cache.dtype == kQ8Cache) return append_q8_launch(p);
  const uint32_t columns = uint32_t(cache.shape[2] * cache.shape[3]);
  return {.constants = {{"THREADS", kMapThreads},
                        {"COLUMNS", columns},
                        {"PAGES", uint32_t(p.inputs[2].shape[0])}},
          .sources = {cache_source(cache.dtype), "attention/cell_of.wgsl",
                      "attention/kv_append.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns / 2, kMapThreads)}, .y = {1, 1}}};
}

std::string even_heads(const Problem& p, const DeviceInfo&) {
  const uint32_t head_dim = head_dim_of(p.outputs[0]);
  return head_dim % 2 == 0 ? "" : fmt::format("head_dim = {} is odd", head_dim);
}

std::string attention_refuses(const Problem& p, const DeviceInfo&) {
  const uint32_t head_dim = head_dim_of(p.inputs[1]);
  if (head_dim % 2 != 0) return fmt::format("head_dim = {} is odd", head_dim);
  if (head_dim > 1024) return fmt::format("head_dim = {} exceeds 1024", head_dim);
  return "";
}

/// The constants of every attention kernel.
Launch attention_base(const Problem& p, uint32_t threads) {
  const Attention& op = p.as<Attention>();
  const TensorDesc& cache = p.inputs[1];
  const uint32_t kv_heads = uint32_t(cache.shape[2]), head_dim = head_dim_of(cache);
  const uint32_t heads = uint32_t(p.inputs[0].shape[1]) / head_dim;
  const bool is_rounded = op.rounded != Half::kNone;
  Launch launch{.constants = {{"THREADS", threads},
                              {"HEADS", heads},
                              {"KV_HEADS", kv_heads},
                              {"HEAD_DIM", head_dim},
                              {"WINDOW", op.window},
                              {"CAUSAL", op.causal ? 1u : 0u},
                              {"PAGES", uint32_t(p.inputs[2].shape[0])},
                              {"SCALE", op.scale},
                              {"SOFTCAP", op.softcap}},
                .sources = {cache_source(cache.dtype), "attention/read_cache.wgsl",
                            "attention/cell_of.wgsl", "attention/softcap.wgsl",
                            has_bias(p) ? "attention/distance_bias.wgsl" : "attention/no_bias.wgsl",
                            has_sinks(p) ? "attention/sinks.wgsl" : "attention/no_sinks.wgsl",
                            is_rounded ? "attention/pairs_half.wgsl" : "attention/pairs_f32.wgsl",
                            cache.dtype == kQ8Cache ? "attention/read_pairs_q8.wgsl"
                                                    : "attention/read_pairs.wgsl"},
                .grid = {.x = {heads}, .y = {1, 1}}};
  // Callers replace the first and the last source.
  const std::vector<std::string> seen = seen_sources(p);
  launch.sources.insert(launch.sources.begin() + 1, seen.begin(), seen.end());
  if (is_rounded) {
    launch.sources.insert(launch.sources.begin() + 1, half_source(op.rounded));
  }
  if (has_bias(p)) launch.constants.push_back({"DISTANCES", uint32_t(p.inputs[3].shape[0])});
  return launch;
}

template <bool kSubgroups>
Launch attention_launch(const Problem& p, const DeviceInfo&) {
  Launch launch = attention_base(p, power_of_two(head_dim_of(p.inputs[1]), 64, 128));
  launch.sources.push_back("attention/attention.wgsl");
  launch.sources = with_reduction(kSubgroups, std::move(launch.sources));
  return launch;
}

// attention_lanes: a few neighbouring lanes per key.

uint32_t lanes_per_key(const Problem& p) {
  const uint32_t head_dim = head_dim_of(p.inputs[1]);
  uint32_t lanes = head_dim <= 64 ? 4 : 8;
  while (lanes > 2 && head_dim % (2 * lanes) != 0) lanes /= 2;
  return lanes;
}

std::string lanes_refuses(const Problem& p, const DeviceInfo& device) {
  const uint32_t head_dim = head_dim_of(p.inputs[1]), lanes = lanes_per_key(p);
  if (head_dim % (2 * lanes) != 0) {
    return fmt::format("head_dim = {} is no multiple of {}", head_dim, 2 * lanes);
  }
  if (head_dim > 1024) return fmt::format("head_dim = {} exceeds 1024", head_dim);
  return lacks_lanes(device, lanes);
}

Launch lanes_launch(const Problem& p, const DeviceInfo&) {
  // Half of the groups leave their sums in workgroup memory at once: 8 KiB of the 16 granted.
  constexpr uint32_t kMergeBytes = 8192;
  const uint32_t head_dim = head_dim_of(p.inputs[1]), lanes = lanes_per_key(p);
  const uint32_t groups = 2 * kMergeBytes / (head_dim * uint32_t(sizeof(float)));
  Launch launch = attention_base(p, power_of_two(groups * lanes, 2 * lanes, 256));
  // Four keys at once, if a lane has no more than eight pairs of each.
  const uint32_t own_pairs = head_dim / 2 / lanes;
  launch.constants.insert(launch.constants.end(),
                          {{"LANES", lanes}, {"AT_ONCE", std::clamp(32 / own_pairs, 1u, 4u)}});
  launch.sources.insert(launch.sources.end(),
                        {"attention/attention_lanes.wgsl", "wgsl/entry.wgsl"});
  return launch;
}

// attention_tile: the queries of several tokens share what they read of the cache.

constexpr uint32_t kTileRows = 32;
constexpr uint32_t kTileThreads = 128;
/// Beyond it a device has too few tiles to fill it: one token each of a head would be faster.
constexpr uint32_t kTileHeadDim = 128;

/// Query heads of a key head.
uint32_t head_group(const Problem& p) {
  const TensorDesc& cache = p.inputs[1];
  return uint32_t(p.inputs[0].shape[1] / (cache.shape[2] * head_dim_of(cache)));
}

std::string tile_refuses(const Problem& p, const DeviceInfo&) {
  if (p.max_tokens == 1) return "is for several tokens";
  const uint32_t head_dim = head_dim_of(p.inputs[1]);
  if (head_dim % 2 != 0) return fmt::format("head_dim = {} is odd", head_dim);
  if (head_dim > kTileHeadDim) {
    return fmt::format("head_dim = {} exceeds {}", head_dim, kTileHeadDim);
  }
  if (head_group(p) > kTileRows) {
    return fmt::format("{} heads share a key head, it takes {}", head_group(p), kTileRows);
  }
  return "";
}

Launch tile_launch(const Problem& p, const DeviceInfo& device) {
  const uint32_t tokens = kTileRows / head_group(p);
  Launch launch = attention_base(p, kTileThreads);
  launch.constants.push_back({"TOKENS", tokens});
  launch.sources.insert(launch.sources.end(),
                        {device.software ? "wgsl/rounds_hidden.wgsl" : "wgsl/rounds.wgsl",
                         "attention/attention_tile.wgsl", "wgsl/entry.wgsl"});
  launch.grid = {.x = {uint32_t(p.inputs[1].shape[2])}, .y = {1, tokens, true}};
  return launch;
}

// attention_matrix: the same by the matrix units of subgroups.

constexpr uint32_t kMatrixSubgroups = 4;
constexpr uint32_t kMatrixRows = kMatrixSubgroups * kMatrixSide;
constexpr uint32_t kMatrixKeys = 32;
constexpr uint32_t kStripColumns = 32;
constexpr uint32_t kMatrixHeadDim = 256;  // whose sums a lane's registers hold

std::string lacks_units(const Problem& p, const DeviceInfo& device, uint32_t rows,
                        uint32_t most_columns, uint32_t bytes) {
  if (p.max_tokens == 1) return "is for several tokens";
  if (has_bias(p)) return "adds nothing to the scores";
  const TensorDesc& cache = p.inputs[1];
  if (cache.dtype != DType::kF16) {
    return fmt::format("is for f16 caches, this one is {}", cache_type_name(cache.dtype));
  }
  const uint32_t head_dim = head_dim_of(cache);
  if (head_dim % 4 != 0) return fmt::format("head_dim = {} is no multiple of 4", head_dim);
  if (head_dim > most_columns) {
    return fmt::format("head_dim = {} exceeds {}", head_dim, most_columns);
  }
  if (head_group(p) > rows) {
    return fmt::format("{} heads share a key head, it takes {}", head_group(p), rows);
  }
  if (std::string lanes = lacks_matrix_lanes(device); !lanes.empty()) return lanes;
  return refuse_workgroup_bytes(bytes, device);
}

std::string matrix_refuses(const Problem& p, const DeviceInfo& device) {
  // Strips of 16 rows of 40 f16: the block's and the weights'; 36 f32 of scores for each row.
  const uint32_t strips =
      std::max(kMatrixSubgroups,
               kMatrixKeys / kMatrixSide * ceil_div(head_dim_of(p.inputs[1]), kStripColumns));
  return lacks_units(
      p, device, kMatrixRows, kMatrixHeadDim,
      1280 * (strips + kMatrixSubgroups) + (144 + 4) * kMatrixRows + 4 * kMatrixSubgroups);
}

/// The common part of launches for matrix units, `rows` rows a workgroup against `keys` keys at a
/// time; heads take `columns` there.
Launch matrix_base(const Problem& p, uint32_t rows, uint32_t keys, uint32_t columns,
                   const char* kernel) {
  const uint32_t tokens = rows / head_group(p), threads = kMatrixSubgroups * kMatrixLanes;
  const uint32_t word = head_dim_of(p.inputs[1]) % 8 == 0 ? 8 : 4;
  Launch launch = attention_base(p, threads);
  launch.constants.insert(launch.constants.end(),
                          {{"TOKENS", tokens},
                           {"KEYS", keys},
                           {"OWN_WORDS", ceil_div(keys * columns / word, threads)}});
  launch.sources.front() =
      word == 8 ? "attention/cache_f16_eights.wgsl" : "attention/cache_f16_fours.wgsl";
  launch.sources.back() = "attention/matrix_rows.wgsl";  // in place of what reads pairs
  // The last tokens see most keys: theirs are not to be what the device waits for in the end.
  launch.sources.insert(launch.sources.end(), {kernel, "wgsl/entry_last_first.wgsl"});
  launch.grid = {.x = {uint32_t(p.inputs[1].shape[2])}, .y = {1, tokens, true}};
  return launch;
}

Launch matrix_launch(const Problem& p, const DeviceInfo&) {
  const uint32_t head_dim = head_dim_of(p.inputs[1]), fragments = ceil_div(head_dim, kMatrixSide);
  Launch launch = matrix_base(p, kMatrixRows, kMatrixKeys, fragments * kMatrixSide,
                              "attention/attention_matrix.wgsl");
  launch.constants.insert(launch.constants.end(), {{"FRAGMENTS", fragments},
                                                   {"SUBGROUPS", kMatrixSubgroups},
                                                   {"LANES", kMatrixLanes},
                                                   {"STRIPS", ceil_div(head_dim, kStripColumns)}});
  return launch;
}

// attention_fragments: the same where a lane may touch its elements of fragments.

constexpr uint32_t kFragmentHeadDim = 512;

struct FragmentShape {
  uint32_t splits;     // subgroups that share rows, each with some of the columns
  uint32_t fragments;  // of a subgroup's columns, at most eight: more do not fit in registers
  uint32_t parts;      // fragments of its rows: two where the columns leave room
  uint32_t keys;       // that fit in 48 KiB with their values

  uint32_t columns() const { return splits * fragments * kMatrixSide; }
  uint32_t rows() const { return kMatrixSubgroups / splits * parts * kMatrixSide; }
};

FragmentShape fragment_shape(uint32_t head_dim) {
  const uint32_t splits = head_dim <= 128 ? 1 : head_dim <= 256 ? 2 : 4;
  return {.splits = splits,
          .fragments = ceil_div(head_dim, splits * kMatrixSide),
          .parts = head_dim <= 64 ? 2u : 1u,
          .keys = 64 / splits};
}

std::string fragments_refuse(const Problem& p, const DeviceInfo& device) {
  const FragmentShape shape = fragment_shape(head_dim_of(p.inputs[1]));
  // Keys and values in f16 and eight more a row; partials of scores in f32 and four more.
  const uint32_t strips = 2 * shape.keys * (shape.columns() + 8) * 2;
  const uint32_t partials =
      (shape.splits == 1 ? 1 : kMatrixSubgroups) * shape.parts * kMatrixSide * (shape.keys + 4) * 4;
  return lacks_units(p, device, std::min(shape.rows(), kMatrixRows), kFragmentHeadDim,
                     strips + partials);
}

Launch fragments_launch(const Problem& p, const DeviceInfo&) {
  const FragmentShape shape = fragment_shape(head_dim_of(p.inputs[1]));
  Launch launch = matrix_base(p, shape.rows(), shape.keys, shape.columns(),
                              "attention/attention_fragments.wgsl");
  launch.sources.insert(launch.sources.end() - 1, "attention/fragment_strips.wgsl");
  launch.constants.insert(launch.constants.end(),
                          {{"SPLITS", shape.splits},
                           {"FRAGMENTS", shape.fragments},
                           {"PARTS", shape.parts},
                           {"KEY_FRAGMENTS", shape.keys / kMatrixSide},
                           {"PARTIALS", shape.splits == 1 ? 1 : kMatrixSubgroups}});
  return launch;
}

constexpr KernelVariant kAttentionVariants[] = {
    {.name = "kv_append.wgsl",
     .op = op_index<KvAppend>(),
     .refuses = even_heads,
     .launch = kv_append_launch},
    {.name = "kv_append.cpu",
     .op = op_index<KvAppend>(),
     .backend = BackendKind::kCpu,
     .run = kv_append_reference},
    {.name = "attention.wgsl.fragments",
     .op = op_index<Attention>(),
     .needs = kFragmentFeatures,
     .refuses = fragments_refuse,
     .launch = fragments_launch,
     .rounding = kF16Rounding},
    {.name = "attention.wgsl.matrix",
     .op = op_index<Attention>(),
     .needs = kMatrixFeatures,
     .refuses = matrix_refuses,
     .launch = matrix_launch,
     .rounding = kF16Rounding},
    {.name = "attention.wgsl.tile",
     .op = op_index<Attention>(),
     .refuses = tile_refuses,
     .launch = tile_launch},
    {.name = "attention.wgsl.lanes",
     .op = op_index<Attention>(),
     .needs = kFeatureSubgroups,
     .refuses = lanes_refuses,
     .launch = lanes_launch},
    {.name = "attention.wgsl.subgroup",
     .op = op_index<Attention>(),
     .needs = kFeatureSubgroups,
     .refuses = attention_refuses,
     .launch = attention_launch<true>},
    {.name = "attention.wgsl",
     .op = op_index<Attention>(),
     .refuses = attention_refuses,
     .launch = attention_launch<false>},
    {.name = "attention.cpu",
     .op = op_index<Attention>(),
     .backend = BackendKind::kCpu,
     .run = attention_reference},
};

}  // namespace

std::string positions_source(bool chunks) {
  return chunks ? "attention/chunk_positions.wgsl" : "attention/positions.wgsl";
}

std::string cache_source(DType dtype) {
  return fmt::format("attention/cache_{}.wgsl", cache_type_name(dtype));
}

std::span<const KernelVariant> attention_variants() {
  return kAttentionVariants;
}

}  // namespace tokamak
