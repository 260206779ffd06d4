#include "kernels/lora/lora.h"

#include <numeric>

#include "kernels/launch.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

/// Calls `store` with products of `x` and the row's own matrix of `rows` rows per adapter. Does
/// nothing for a row without an adapter.
template <typename Store>
void multiply_own(const CpuCall& call, const CpuTensor& matrix, size_t rows, size_t x_first,
                  Store store) {
  const CpuTensor& x = call.inputs[0];
  std::vector<float> weights(matrix.dims[1]);
  for (size_t t = 0; t < x.dims[0]; ++t) {
    const size_t adapter = call.batch.slot_of(t).adapter;
    if (adapter == 0 || adapter * rows > matrix.dims[0]) continue;
    const auto own = x.f32().subspan(t * x.dims[1] + x_first, weights.size());
    for (size_t r = 0; r < rows; ++r) {
      matrix.load_row((adapter - 1) * rows + r, weights);
      store(t * rows + r, std::inner_product(own.begin(), own.end(), weights.begin(), 0.0));
    }
  }
}

void lora_down_reference(const CpuCall& call) {
  const std::span<float> h = call.outputs[0].f32();
  multiply_own(call, call.inputs[1], call.as<LoraDown>().rank, 0,
               [&](size_t i, double sum) { h[i] = float(sum); });
}

void lora_up_reference(const CpuCall& call) {
  const std::span<float> y = call.outputs[0].f32();
  multiply_own(call, call.inputs[1], call.outputs[0].dims[1], call.as<LoraUp>().first,
               [&](size_t i, double sum) { y[i] = float(double(y[i]) + sum); });
}

/// Rows of a sequence that a workgroup takes: more make texts that drivers take long to compile.
uint32_t tile_tokens(const Problem& p) {
  return p.decodes ? 1 : power_of_two(p.max_tokens, 1, 4);
}

Extent tiles(const Problem& p) {
  return {.count = 1, .tokens_per_group = tile_tokens(p), .per_slot = !p.decodes};
}

template <bool kSubgroups>
Launch lora_down_launch(const Problem& p, const DeviceInfo&) {
  const uint32_t in = uint32_t(p.inputs[1].shape[1]), rank = p.as<LoraDown>().rank;
  return with_codec(wide_codec(p.inputs[1]),
                    {.constants = {{"THREADS", power_of_two(in / 32, 32, 256)},
                                   {"IN", in},
                                   {"RANK", rank},
                                   {"ADAPTERS", uint32_t(p.inputs[1].shape[0]) / rank},
                                   {"TOKENS", tile_tokens(p)}},
                     .sources = with_reduction(kSubgroups, {"lora/lora_down.wgsl"}),
                     .grid = {.x = {rank / 4}, .y = tiles(p)}});
}

Launch lora_up_launch(const Problem& p, const DeviceInfo&) {
  constexpr uint32_t kThreads = 64;
  const uint32_t out = uint32_t(p.outputs[0].shape[1]);
  return with_codec(wide_codec(p.inputs[1]),
                    {.constants = {{"THREADS", kThreads},
                                   {"OUT", out},
                                   {"RANK", uint32_t(p.inputs[1].shape[1])},
                                   {"RANKS", uint32_t(p.inputs[0].shape[1])},
                                   {"FIRST", p.as<LoraUp>().first},
                                   {"ADAPTERS", uint32_t(p.inputs[1].shape[0]) / out},
                                   {"TOKENS", tile_tokens(p)}},
                     .sources = {"lora/lora_up.wgsl", "wgsl/entry.wgsl"},
                     .grid = {.x = {ceil_div(out, kThreads)}, .y = tiles(p)}});
}

constexpr KernelVariant kLoraVariants[] = {
    {.name = "lora_down.wgsl.subgroup",
     .op = op_index<LoraDown>(),
     .needs = kFeatureSubgroups,
     .launch = lora_down_launch<true>},
    {.name = "lora_down.wgsl", .op = op_index<LoraDown>(), .launch = lora_down_launch<false>},
    {.name = "lora_down.cpu",
     .op = op_index<LoraDown>(),
     .backend = BackendKind::kCpu,
     .run = lora_down_reference},
    {.name = "lora_up.wgsl", .op = op_index<LoraUp>(), .launch = lora_up_launch},
    {.name = "lora_up.cpu",
     .op = op_index<LoraUp>(),
     .backend = BackendKind::kCpu,
     .run = lora_up_reference},
};

}  // namespace

std::span<const KernelVariant> lora_variants() {
  return kLoraVariants;
}

}  // namespace tokamak
