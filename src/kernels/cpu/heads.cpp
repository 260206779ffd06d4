// Rows of the variant tables for what follows a head's logits: the best of each block of them, for
// choosing tokens.
#include <algorithm>
#include <vector>

#include "kernels/cpu/candidates.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/variants.h"
#include "kernels/sampling/topk_tokens.h"

namespace tokamak {
namespace {

/// Calls body(row, first column, columns, number of the block) for all blocks of logits.
template <typename Body>
void over_blocks(const CpuCall& call, size_t block, size_t each, const Body& body) {
  constexpr size_t kTogether = 16;  // blocks of a piece
  const size_t columns = call.inputs[0].dims[1], blocks = ceil_div(columns, block);
  const size_t pieces = ceil_div(blocks, kTogether);
  over_parts(call, call.inputs[0].dims[0] * pieces, kTogether * block * each, [&](size_t piece) {
    const size_t begin = piece % pieces * kTogether;
    for (size_t b = begin; b < std::min(begin + kTogether, blocks); ++b) {
      body(piece / pieces, b * block, std::min(block, columns - b * block), b);
    }
  });
}

void block_argmax(const CpuCall& call) {
  const size_t columns = call.inputs[0].dims[1];
  over_blocks(call, kArgmaxBlock, 1, [&](size_t t, size_t first, size_t count, size_t number) {
    const auto x = call.inputs[0].f32().subspan(t * columns + first, count);
    const size_t place = place_of_largest(x);
    const auto pair = row_of(call.outputs[0], t).subspan(2 * number, 2);
    pair[0] = std::max(x[place], std::numeric_limits<float>::lowest());
    pair[1] = float(first + place);
  });
}

void block_maxima(const CpuCall& call) {
  const auto block = size_t(candidate_block(int64_t{call.inputs[0].dims[1]}));
  over_blocks(call, block, 16, [&](size_t t, size_t first, size_t count, size_t number) {
    std::vector<float> room(count);
    const AllowedLogits logits(call, t, call.inputs[1]);
    const Peak peak =
        peak_of(logits.part(first, room), call.batch.slot_of(t).rule.inverse_temperature);
    const auto pair = row_of(call.outputs[0], t).subspan(2 * number, 2);
    pair[0] = peak.largest;
    pair[1] = peak.sum;
  });
}

constexpr KernelVariant kVariants[] = {
    vector_row<BlockArgmax>("block_argmax.cpu.vectors", block_argmax),
    vector_row<BlockMaxima>("block_maxima.cpu.vectors", block_maxima),
    vector_row<TopKBlocks>("topk_blocks.cpu.threads", in_rows<topk_blocks_row, 64>),
    vector_row<TopKTokens>("topk_tokens.cpu.threads", in_rows<topk_tokens_row, 64>),
};

}  // namespace

std::span<const KernelVariant> vector_head_variants() {
  return kVariants;
}

}  // namespace tokamak
