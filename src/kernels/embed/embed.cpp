#include "kernels/embed/embed.h"

#include "kernels/launch.h"
#include "kernels/quant/codec.h"

namespace tokamak {

void embed_token(const CpuCall& call, size_t t) {
  const CpuTensor& table = call.inputs[1];
  const size_t n = table.dims[1];
  const uint32_t token = call.inputs[0].u32()[t];
  const std::span<float> row = call.outputs[0].f32().subspan(t * n, n);
  if (token >= table.dims[0]) {
    const CpuTensor& others = call.inputs[2];
    return others.load_row((token - table.dims[0]) % others.dims[0], row);
  }
  table.load_row(token, row);
  for (float& value : row) value *= call.as<Embed>().scale;
}

namespace {

void embed_reference(const CpuCall& call) {
  for (size_t t = 0; t < call.outputs[0].dims[0]; ++t) embed_token(call, t);
}

/// `lanes` of them write a row, as `own` says.
Launch gather(const Problem& problem, const std::string& own, uint32_t lanes, WeightCodec codec) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  const uint32_t rows = uint32_t(problem.inputs[1].shape[0]);
  Launch launch = {
      .constants = {{"THREADS", kMapThreads},
                    {"COLUMNS", columns},
                    {"ROWS", rows},
                    {"FIRST_ROW", problem.cut.first},
                    {"SCALE", problem.as<Embed>().scale}},
      .sources = {"embed/no_rows.wgsl", fmt::format("embed/embed{}.wgsl", own), "wgsl/entry.wgsl"},
      .grid = {.x = {ceil_div(lanes, kMapThreads)}, .y = {1, 1}}};
  if (problem.inputs.size() == 3) {
    launch.constants.push_back({"VOCAB", problem.cut.total != 0 ? problem.cut.total : rows});
    launch.constants.push_back({"OTHER_ROWS", uint32_t(problem.inputs[2].shape[0])});
    launch.sources[0] = fmt::format("embed/rows{}.wgsl", own);
  }
  return with_codec(std::move(codec), std::move(launch));
}

std::string single_refuses(const Problem& problem, const DeviceInfo&) {
  const DType dtype = problem.inputs[1].dtype;
  return is_packed(dtype) ? fmt::format("reads weights one by one, not {}", dtype_name(dtype)) : "";
}
Launch single(const Problem& problem, const DeviceInfo&) {
  return gather(problem, "", uint32_t(problem.outputs[0].shape[1]),
                single_codec(problem.inputs[1]));
}

std::string packed_refuses(const Problem& problem, const DeviceInfo&) {
  const DType dtype = problem.inputs[1].dtype;
  return is_packed(dtype) ? "" : fmt::format("is for packed weights, not {}", dtype_name(dtype));
}
Launch packed(const Problem& problem, const DeviceInfo&) {
  return gather(problem, "_packed", uint32_t(problem.outputs[0].shape[1] / 8),
                wide_codec(problem.inputs[1]));
}

constexpr KernelVariant kEmbedVariants[] = {
    {.name = "embed.wgsl", .op = op_index<Embed>(), .refuses = single_refuses, .launch = single},
    {.name = "embed.wgsl.packed",
     .op = op_index<Embed>(),
     .refuses = packed_refuses,
     .launch = packed},
    {.name = "embed.cpu",
     .op = op_index<Embed>(),
     .backend = BackendKind::kCpu,
     .run = embed_reference},
};

}  // namespace

std::span<const KernelVariant> embed_variants() {
  return kEmbedVariants;
}

}  // namespace tokamak
