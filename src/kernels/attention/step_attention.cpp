#include "kernels/attention/step_attention.h"

#include <cmath>
#include <numeric>

#include "kernels/attention/attention.h"
#include "kernels/launch.h"

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

// The reference: head by head, in f64.

using Head = std::vector<double>;

Head made_head(const CpuCall& call, size_t t, size_t start, bool norm, size_t weights, bool turn) {
  const auto& op = call.as<StepAttention>();
  const Parts<std::vector<CpuTensor>> p{op, call.inputs, call.outputs};
  const size_t d = p.cache().dims[3], columns = call.inputs[0].dims[1];
  const std::span<const float> row = call.inputs[0].f32().subspan(t * columns + start, d);
  Head head(row.begin(), row.end());
  if (norm) {
    const double squares = std::inner_product(head.begin(), head.end(), head.begin(), 0.0);
    const double scale = 1.0 / std::sqrt(squares / double(d) + double(op.eps));
    for (size_t i = 0; i < d; ++i) {
      const bool has_weight = weights != SIZE_MAX;
      head[i] *= scale * (has_weight ? double(call.inputs[p.norms_index()].load(weights + i)) : 1);
    }
  }
  if (!turn) return head;
  const size_t rotary = call.inputs[1].dims[1], half = rotary / 2;
  const size_t position = call.frame.position + t;
  const size_t at = position + (call.frame.length > op.short_rows ? op.short_rows : 0);
  const std::span<const float> angles = call.inputs[1].f32().subspan(at * rotary, rotary);
  for (size_t i = 0; i < half; ++i) {
    const double a = head[i], b = head[i + half];
    head[i] = a * double(angles[i]) - b * double(angles[half + i]);
    head[i + half] = b * double(angles[i]) + a * double(angles[half + i]);
  }
  return head;
}

void reference(const CpuCall& call) {
  const auto& op = call.as<StepAttention>();
  const Parts<std::vector<CpuTensor>> p{op, call.inputs, call.outputs};
  const CpuTensor& cache = p.cache();
  const std::span<const uint32_t> pages = call.inputs[p.pages_index()].u32();
  const size_t kv = cache.dims[2], d = cache.dims[3], heads = op.heads, splits = op.splits;
  const std::span<float> y = call.outputs[0].f32();
  const size_t columns = call.outputs[0].dims[1];
  for (size_t t = 0; t < call.frame.tokens; ++t) {
    const size_t position = call.frame.position + t;
    if (op.appends) {
      for (size_t h = 0; h < kv; ++h) {
        const Head key = made_head(call, t, (heads + h) * d, p.has_norms(), d, true);
        const Head value = made_head(call, t, (heads + kv + h) * d, op.norm_v, SIZE_MAX, false);
        for (size_t i = 0; i < d; ++i) {
          cache.store(cache_element(cache, pages, position, 0, h) + i, float(key[i]));
          cache.store(cache_element(cache, pages, position, 1, h) + i, float(value[i]));
        }
      }
    }
    const size_t end = position + 1;
    const size_t first = op.window > 0 && position >= op.window ? end - op.window : 0;
    const size_t length = ceil_div(end - first, splits);
    for (size_t h = 0; h < heads; ++h) {
      const Head query = made_head(call, t, h * d, p.has_norms(), 0, true);
      for (size_t s = 0; s < splits; ++s) {
        const size_t begin = std::min(first + s * length, end);
        const size_t until = std::min(begin + length, end);
        std::vector<double> scores;
        double largest = -3e38, total = 0;
        for (size_t at = begin; at < until; ++at) {
          const size_t key = cache_element(cache, pages, at, 0, h / (heads / kv));
          double score = 0;
          for (size_t i = 0; i < d; ++i) score += query[i] * double(cache.load(key + i));
          score *= double(op.scale);
          if (op.softcap > 0) score = double(op.softcap) * std::tanh(score / double(op.softcap));
          scores.push_back(score);
          largest = std::max(largest, score);
        }
        Head sums(d);
        for (size_t at = begin; at < until; ++at) {
          const double weight = std::exp(scores[at - begin] - largest);
          const size_t value = cache_element(cache, pages, at, 1, h / (heads / kv));
          total += weight;
          for (size_t i = 0; i < d; ++i) sums[i] += weight * double(cache.load(value + i));
        }
        float* out = &y[t * columns + (s * heads + h) * d];
        for (size_t i = 0; i < d; ++i) out[i] = float(splits == 1 ? sums[i] / total : sums[i]);
        if (splits == 1) continue;
        float* score = &y[t * columns + splits * heads * d + 2 * (s * heads + h)];
        score[0] = float(largest);
        score[1] = float(total);
      }
    }
  }
}

// The kernel.

/// Lanes that share a key, at most `most`, so that each has the same number of units.
uint32_t lanes_per_key(const Problem& p, uint32_t most) {
  const uint32_t units = uint32_t(parts(p).cache().shape[3]) / 8;
  return std::min(units & (0 - units), most);
}

std::string refuses(const Problem& p, const DeviceInfo&) {
  if (p.max_tokens > 1) return "is for one token";
  const Dim head_dim = parts(p).cache().shape[3];
  if (head_dim % 8 != 0) return fmt::format("head_dim = {} is no multiple of 8", head_dim);
  if (head_dim > 512) return fmt::format("head_dim = {} exceeds 512", head_dim);
  return "";
}

template <uint32_t kMost>
std::string subgroup_refuses(const Problem& p, const DeviceInfo& device) {
  if (std::string reason = refuses(p, device); !reason.empty()) return reason;
  return device.subgroup_min >= kMost
             ? ""
             : fmt::format("subgroups may have {} lanes, it needs {}", device.subgroup_min, kMost);
}

/// `span` lanes merge what they have by themselves; 0: those that share a key only.
Launch launch(const Problem& p, uint32_t most_lanes, uint32_t span, const char* sums_lanes) {
  const auto operands = parts(p);
  const StepAttention& op = operands.op;
  const TensorDesc& cache = operands.cache();
  const uint32_t kv = uint32_t(cache.shape[2]), d = uint32_t(cache.shape[3]);
  const uint32_t lanes = lanes_per_key(p, most_lanes), own = d / 8 / lanes;
  // The sums of all groups must fit into 8 KiB of workgroup memory.
  const uint32_t threads = power_of_two(256 / own, std::max(lanes, 32u), 256);
  // Queries that share their keys' loads, as long as there are workgroups for a large device and
  // registers for their sums.
  uint32_t queries = 1;
  for (uint32_t q = 2; q <= op.heads / kv && q * own <= 8; ++q) {
    if (op.heads / kv % q == 0 && op.heads / q * op.splits >= 256) queries = q;
  }
  Launch launch{
      .constants = {{"THREADS", threads},
                    {"LANES", lanes},
                    {"SPAN", std::max(span, lanes)},
                    {"QUERIES", queries},
                    {"HEADS", op.heads},
                    {"KV_HEADS", kv},
                    {"HEAD_DIM", d},
                    {"ROTARY", uint32_t(p.inputs[1].shape[1])},
                    {"SHORT_ROWS", op.short_rows},
                    {"WINDOW", op.window},
                    {"CAUSAL", 1u},
                    {"SCALE", op.scale},
                    {"SPLITS", op.splits}},
      .sources = {fmt::format("attention/unit_{}.wgsl", dtype_name(cache.dtype)),
                  op.appends ? "attention/step_appends.wgsl" : "attention/step_reads.wgsl",
                  "attention/positions.wgsl",
                  op.softcap > 0 ? "attention/softcap.wgsl" : "attention/no_softcap.wgsl",
                  op.splits > 1 ? "attention/split_sums.wgsl" : "attention/whole_sums.wgsl",
                  sums_lanes, "attention/step_attention.wgsl"},
      .grid = {.x = {op.heads / queries}, .y = {op.splits}}};
  if (op.softcap > 0) launch.constants.push_back({"SOFTCAP", op.softcap});
  if (operands.has_norms()) {
    launch.constants.insert(launch.constants.end(),
                            {{"EPS", op.eps},
                             {"NORM_V", op.norm_v ? 1u : 0u},
                             {"NORMS_BINDING", uint32_t(1 + operands.norms_index())}});
    launch.sources.push_back("attention/head_norms.wgsl");
  } else {
    launch.sources.push_back("attention/no_head_norms.wgsl");
  }
  return launch;
}

template <uint32_t kMost>
Launch subgroup_launch(const Problem& p) {
  return launch(p, kMost, kMost, "attention/lanes_subgroup.wgsl");
}
Launch plain_launch(const Problem& p) {
  return launch(p, 8, 0, "attention/lanes_memory.wgsl");
}

constexpr size_t kOp = op_index<StepAttention>();

constexpr KernelVariant kVariants[] = {
    {.name = "step_attention.wgsl.subgroup32",
     .op = kOp,
     .needs = kFeatureSubgroups,
     .refuses = subgroup_refuses<32>,
     .launch = subgroup_launch<32>},
    {.name = "step_attention.wgsl.subgroup8",
     .op = kOp,
     .needs = kFeatureSubgroups,
     .refuses = subgroup_refuses<8>,
     .launch = subgroup_launch<8>},
    {.name = "step_attention.wgsl", .op = kOp, .refuses = refuses, .launch = plain_launch},
    {.name = "step_attention.cpu", .op = kOp, .backend = BackendKind::kCpu, .reference = reference},
};

}  // namespace

std::span<const KernelVariant> step_attention_variants() {
  return kVariants;
}

}  // namespace tokamak
