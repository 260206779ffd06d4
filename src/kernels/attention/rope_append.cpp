#include "kernels/attention/rope_append.h"

#include "graph/kv_cache.h"
#include "kernels/attention/attention.h"
#include "kernels/launch.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/rope/rope.h"

namespace tokamak {
namespace {

/// Operands of a launch, by number: the cache is bound as the result that it is.
constexpr size_t kPages = RopeAppend::kCache;
size_t norms_of(const RopeAppend& op) {
  return op.norms() - (op.appends ? 1 : 0);
}

}  // namespace

void rope_append_rows(const CpuCall& call, size_t first, size_t last) {
  const auto& op = call.as<RopeAppend>();
  const size_t d = op.head_dim, kv_heads = op.appends ? call.outputs[1].dims[2] : 0;
  const std::vector<float> ones(op.norm_v ? d : 0, 1.0f);
  std::span<const float> norms;
  if (call.inputs.size() > norms_of(op)) norms = call.inputs[norms_of(op)].f32();
  const size_t columns = call.inputs[0].dims[1];
  std::vector<float> head(d);
  for (size_t row = first; row < last; ++row) {
    const auto angles = angles_of(call.inputs[RopeAppend::kTable], call.batch, op.short_rows, row);
    const std::span<const float> own = call.inputs[0].f32().subspan(row * columns, columns);
    for (size_t h = 0; h < op.heads + 2 * kv_heads; ++h) {
      const bool is_query = h < op.heads, is_value = h >= op.heads + kv_heads;
      const auto from = own.subspan((h - (is_value && op.k_is_v ? kv_heads : 0)) * d, d);
      head.assign(from.begin(), from.end());
      if (is_value) {
        if (op.norm_v) rms_norm(head, ones, op.eps, head);
      } else {
        if (!norms.empty()) rms_norm(head, norms.subspan(is_query ? 0 : d, d), op.eps, head);
        rotate(head, angles);
      }
      if (is_query) {
        std::ranges::copy(head, call.outputs[0].f32().subspan((row * op.heads + h) * d).begin());
      } else {
        const CachedHead cell{call.batch.position_of(row), size_t{is_value},
                              (h - op.heads) % kv_heads};
        store_cached(call.outputs[1], pages_of(call, call.inputs[kPages], row), cell, head);
      }
    }
  }
}

namespace {

void rope_append_reference(const CpuCall& call) {
  rope_append_rows(call, 0, call.batch.rows());
}

Launch rope_append_launch(const Problem& problem, const DeviceInfo&) {
  const auto& op = problem.as<RopeAppend>();
  const uint32_t rotary = uint32_t(problem.inputs[RopeAppend::kTable].shape[1]);
  const uint32_t head_lanes = rotary / 8 + (op.head_dim - rotary) / 4;
  const uint32_t kv_heads = op.appends ? uint32_t(problem.outputs[1].shape[2]) : 0;
  const uint32_t all_heads = op.heads + 2 * kv_heads;
  const bool in_bytes = op.appends && problem.outputs[1].dtype == kQ8Cache;
  Launch own{.constants = {{"THREADS", kMapThreads},
                           {"ROW_FOURS", uint32_t(problem.inputs[0].shape[1]) / 4},
                           {"HEADS", op.heads},
                           {"KV_HEADS", kv_heads},
                           {"ALL_HEADS", all_heads},
                           {"VALUES_BACK", op.k_is_v ? kv_heads : 0},
                           {"HEAD_DIM", op.head_dim},
                           {"ROTARY", rotary},
                           {"SHORT_ROWS", op.short_rows}},
             .sources = {"rope/angles.wgsl"},
             .grid = {.x = {ceil_div(all_heads, kMapThreads / head_lanes)}, .y = {1, 1}}};
  if (op.appends) {
    own.constants.push_back({"PAGES", uint32_t(problem.inputs[kPages].shape[0])});
    own.sources.push_back(cache_source(problem.outputs[1].dtype));
    own.sources.emplace_back("attention/cell_of.wgsl");
    own.sources.emplace_back(in_bytes ? "attention/rope_cache_q8.wgsl"
                                      : "attention/rope_cache.wgsl");
  } else {
    own.sources.emplace_back("attention/rope_no_cache.wgsl");
  }
  own.sources.emplace_back(in_bytes ? "attention/steps_q8.wgsl" : "attention/rope_no_step.wgsl");
  if (problem.inputs.size() > norms_of(op)) {
    own.constants.insert(own.constants.end(), {{"NORMS_BINDING", uint32_t(1 + norms_of(op))},
                                               {"EPS", op.eps},
                                               {"NORM_V", uint32_t{op.norm_v}}});
    own.sources.emplace_back("attention/rope_norms.wgsl");
  } else {
    own.sources.emplace_back("attention/rope_no_norms.wgsl");
  }
  own.sources.insert(own.sources.end(), {"attention/rope_append.wgsl", "wgsl/entry.wgsl"});
  return own;
}

constexpr KernelVariant kRopeAppendVariants[] = {
    {.name = "rope_append.wgsl", .op = op_index<RopeAppend>(), .launch = rope_append_launch},
    {.name = "rope_append.cpu",
     .op = op_index<RopeAppend>(),
     .backend = BackendKind::kCpu,
     .run = rope_append_reference},
};

}  // namespace

std::span<const KernelVariant> rope_append_variants() {
  return kRopeAppendVariants;
}

}  // namespace tokamak
