#include "kernels/embed/embed.h"

#include "kernels/launch.h"

namespace tokamak {
namespace {

void embed_reference(const CpuCall& call) {
  const float scale = call.as<Embed>().scale;
  const std::span<const uint32_t> tokens = call.inputs[0].u32();
  const CpuTensor& table = call.inputs[1];
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = table.dims[1];
  for (size_t t = 0; t < call.frame.tokens; ++t) {
    const std::span<float> row = y.subspan(t * n, n);
    table.load_row(tokens[t], row);
    for (float& value : row) value *= scale;
  }
}

Launch embed_launch(const Problem& problem) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  return {.constants = {{"THREADS", kMapThreads},
                        {"COLUMNS", columns},
                        {"SCALE", problem.as<Embed>().scale}},
          .sources = {codec_single_source(problem.inputs[1].dtype), "embed/embed.wgsl",
                      "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, 1}}};
}

constexpr KernelVariant kVariants[] = {
    {.name = "embed.wgsl", .op = op_index<Embed>(), .launch = embed_launch},
    {.name = "embed.cpu",
     .op = op_index<Embed>(),
     .backend = BackendKind::kCpu,
     .reference = embed_reference},
};

}  // namespace

std::span<const KernelVariant> embed_variants() {
  return kVariants;
}

}  // namespace tokamak
