// The bytes and operations of steps.
#include <algorithm>

#include "graph/kv_cache.h"
#include "plan/plan.h"

namespace tokamak {
namespace {

bool reads_cache(const Op& op) {
  return std::holds_alternative<Attention>(op) || std::holds_alternative<StepAttention>(op) ||
         std::holds_alternative<LatentAttention>(op);
}

/// The keys and values of the positions that a step of attention sees.
void add_attention(Cost& cost, const Step& step, const Operand& cache, uint64_t tokens,
                   uint64_t kv_length, uint64_t sequences) {
  const uint64_t per_position = element_count(cache.shape, 1) / uint64_t(cache.shape[0]);
  if (std::holds_alternative<LatentAttention>(step.op)) {
    const uint64_t queries = element_count(step.inputs[0].shape, 1);
    const uint64_t products = 2 * queries + element_count(step.inputs[1].shape, 1);
    cost.bytes += sequences * kv_length * per_position * dtype_bytes(cache.dtype);
    cost.flops += 2 * tokens * kv_length * products;
    return;
  }
  const auto* plain = std::get_if<Attention>(&step.op);
  const auto* fused = std::get_if<StepAttention>(&step.op);
  const uint64_t window = plain != nullptr ? plain->window : fused->window;
  const bool causal = plain == nullptr || plain->causal;
  const uint64_t seen = window == 0 ? kv_length : std::min(kv_length, window * (causal ? 1 : 2));
  const uint64_t head_dim = uint64_t(cached_head_dim(cache.dtype, cache.shape));
  const uint64_t queries =
      fused != nullptr ? fused->heads * head_dim : element_count(step.outputs[0].shape, 1);
  cost.bytes += sequences * seen * per_position * dtype_bytes(cache.dtype);
  cost.flops += 2 * tokens * seen * queries * 2;
}

/// The bytes that a rank takes from the others: of a sum its share of theirs and the sums that they
/// make, of what is gathered theirs, of a norm two sums of each row with the numbers of their turn.
uint64_t link_bytes(const Step& step, uint64_t tokens) {
  const auto moved = [&](uint32_t ranks, uint64_t times) {
    const Operand& out = step.outputs[0];
    return byte_count(out.dtype, out.shape, tokens) * times * (ranks - 1) / ranks;
  };
  if (const auto* sum = std::get_if<AllReduce>(&step.op)) return moved(sum->ranks, 2);
  if (const auto* sum = std::get_if<AllReduceNorm>(&step.op)) return moved(sum->ranks, 2);
  if (const auto* norm = std::get_if<AllNorm>(&step.op)) {
    const Dim rows = step.outputs[0].shape[0];
    return byte_count(DType::kF32, {rows, 4}, tokens) * (norm->ranks - 1);
  }
  const auto* all = std::get_if<AllGather>(&step.op);
  return all == nullptr ? 0 : moved(all->ranks, 1);
}

}  // namespace

Cost step_cost(const Plan& plan, const Step& step, uint64_t tokens, uint64_t kv_length,
               uint64_t sequences) {
  Cost cost;
  const bool rope_append = std::holds_alternative<RopeAppend>(step.op);
  const bool gathers = std::holds_alternative<Embed>(step.op) ||
                       std::holds_alternative<Rope>(step.op) || rope_append;
  const uint32_t experts = experts_of(step.op);
  const auto bytes = [&](const Operand& o) { return byte_count(o.dtype, o.shape, tokens); };
  // A step has a share of a cut weight: that of the tokens it gathers, or of the results it writes.
  const double share =
      step.cut.total == 0 ? 1.0 : double(step.inputs[1].shape[0]) / double(step.cut.total);
  const auto* part = std::get_if<HalfLinear>(&step.op);
  const auto shared = [&](uint64_t amount) { return uint64_t(double(amount) * share); };
  for (const Operand& in : step.inputs) {
    const BufferUse use = plan.at(in.buffer).use;
    if (use == BufferUse::kState && reads_cache(step.op)) {
      add_attention(cost, step, in, tokens, kv_length, sequences);
    } else if (use == BufferUse::kConstant && gathers && in.shape.size() == 2) {
      cost.bytes += shared(tokens * (bytes(in) / uint64_t(in.shape[0])));
    } else if (use == BufferUse::kConstant && experts != 0 && in.shape.size() == 2) {
      // At most one expert for each choice, and none of them more than once.
      const uint64_t choices = element_count(step.inputs[2].shape, tokens);
      cost.bytes += bytes(in) / experts * std::min<uint64_t>(choices, experts);
      cost.flops += 2 * element_count(in.shape, 1) / experts * choices;
    } else if (part != nullptr && &in == &step.inputs[1]) {
      // The cost of some rows, of a constant or of one that became bf16.
      const uint64_t columns = uint64_t(in.shape[1]);
      cost.bytes += part->rows * columns * dtype_bytes(in.dtype);
      cost.flops += 2 * part->rows * columns * tokens;
    } else if (use != BufferUse::kTable && use != BufferUse::kSampled) {
      cost.bytes += bytes(in);
      const bool is_product = !std::holds_alternative<ToHalf>(step.op);
      if (use == BufferUse::kConstant && in.shape.size() == 2 && is_product) {
        const uint64_t rows = step.inputs[0].shape[0] == kTokens ? tokens : 1;
        cost.flops += 2 * element_count(in.shape, 1) * rows;
      }
    }
  }
  const bool appends = std::holds_alternative<KvAppend>(step.op) ||
                       std::holds_alternative<LatentAppend>(step.op) || rope_append;
  for (const Operand& out : step.outputs) {
    const bool is_state = plan.at(out.buffer).use == BufferUse::kState;
    if (!is_state) cost.bytes += shared(bytes(out));
    if (is_state && reads_cache(step.op)) {
      add_attention(cost, step, out, tokens, kv_length, sequences);
    } else if (is_state && appends) {
      cost.bytes += tokens * (bytes(out) / uint64_t(out.shape[0]));
    } else if (is_state) {
      cost.bytes += sequences * 2 * bytes(out);  // read and written
    }
    if (is_state && std::holds_alternative<GatedDelta>(step.op)) {
      // Per token: its decay, two products with it, and a product added to it.
      cost.flops += 7 * tokens * element_count(out.shape, 1);
    }
    if (is_state && std::holds_alternative<SelectiveScan>(step.op)) {
      // The same with one product instead of two.
      cost.flops += 5 * tokens * element_count(out.shape, 1);
    }
  }
  cost.link_bytes = link_bytes(step, tokens);
  return cost;
}

Cost phase_cost(const Plan& plan, const Phase& phase, uint64_t tokens, uint64_t kv_length,
                uint64_t sequences) {
  Cost sum;
  for (const Step& step : phase.steps) {
    const Cost cost = step_cost(plan, step, tokens, kv_length, sequences);
    sum.bytes += cost.bytes;
    sum.flops += cost.flops;
    sum.link_bytes += cost.link_bytes;
  }
  return sum;
}

}  // namespace tokamak
