#include "kernels/sources.h"

#include "kernels/written_out.h"

namespace tokamak {

std::string_view embedded_text(std::string_view name) {
  return find_text(embedded_files(), name);
}

std::string shader_text(Features features, const Launch& launch, size_t inputs, size_t outputs) {
  std::string text;
  if ((features & kFeatureF16) != 0) text += "enable f16;\n";
  if ((features & kFeatureSubgroups) != 0) text += "enable subgroups;\n";
  if ((features & kFeatureSubgroupMatrix) != 0) {
    text += "enable chromium_experimental_subgroup_matrix;\n";
  }
  for (const Constant& constant : launch.constants) {
    if (const auto* value = std::get_if<uint32_t>(&constant.value)) {
      text += fmt::format("const {}: u32 = {}u;\n", constant.name, *value);
    } else {
      text += fmt::format("const {}: f32 = f32({:.9e});\n", constant.name,
                          std::get<float>(constant.value));
    }
  }
  for (size_t i = 0; i < inputs; ++i) text += fmt::format("const INPUT_{} = {};\n", i, 1 + i);
  for (size_t i = 0; i < outputs; ++i) {
    text += fmt::format("const OUTPUT_{} = {};\n", i, 1 + inputs + i);
  }
  text += embedded_text("wgsl/frame.wgsl");
  text += embedded_text(launch.writes_frame ? "wgsl/next_frame.wgsl" : "wgsl/this_frame.wgsl");
  for (const std::string& source : launch.sources) {
    text += with_loops_written_out(embedded_text(source), launch.constants);
  }
  return text;
}

}  // namespace tokamak
