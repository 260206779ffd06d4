#include "kernels/select.h"

#include "kernels/attention/attention.h"
#include "kernels/attention/step_attention.h"
#include "kernels/choice/choice.h"
#include "kernels/conv/short_conv.h"
#include "kernels/delta/gated_delta.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/embed/embed.h"
#include "kernels/experts/experts.h"
#include "kernels/linear/linear.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/rope/rope.h"

namespace tokamak {
namespace {

std::vector<KernelVariant> collect() {
  std::vector<KernelVariant> all;
  for (const std::span<const KernelVariant> family :
       {embed_variants(), linear_variants(), norm_variants(), elementwise_variants(),
        rope_variants(), attention_variants(), step_attention_variants(), conv_variants(),
        delta_variants(), expert_variants(), choice_variants()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

}  // namespace

std::span<const KernelVariant> all_variants() {
  static const std::vector<KernelVariant> all = collect();
  return all;
}

const KernelVariant* find_variant(std::string_view name) {
  for (const KernelVariant& variant : all_variants()) {
    if (variant.name == name) return &variant;
  }
  return nullptr;
}

std::string refusal(const KernelVariant& variant, const Problem& problem,
                    const DeviceInfo& device) {
  if (variant.op != problem.op->index()) {
    return fmt::format("computes another op, not {}", op_name(*problem.op));
  }
  if (variant.backend != device.backend) {
    return fmt::format("is for {}, the device is {}", backend_name(variant.backend),
                       backend_name(device.backend));
  }
  const Features missing = variant.needs & ~device.features;
  if (missing != 0) return fmt::format("device lacks {}", features_text(missing));
  return variant.refuses != nullptr ? variant.refuses(problem, device) : "";
}

Result<Selection> select_variant(const Problem& problem, const DeviceInfo& device,
                                 const ForcedVariants& forced) {
  const auto force = forced.find(op_name(*problem.op));
  Selection selection;
  for (const KernelVariant& variant : all_variants()) {
    if (variant.op != problem.op->index() || variant.backend != device.backend) continue;
    if (force != forced.end() && force->second != variant.name) {
      selection.passed_over.push_back(fmt::format("{}: {} is forced", variant.name, force->second));
      continue;
    }
    const std::string reason = refusal(variant, problem, device);
    if (reason.empty()) {
      selection.variant = &variant;
      return selection;
    }
    selection.passed_over.push_back(fmt::format("{}: {}", variant.name, reason));
  }
  return unsupported(
      "No {} kernel computes {} {} on \"{}\" ({}).", backend_name(device.backend),
      op_name(*problem.op), problem.outputs.empty() ? "" : type_text(problem.outputs[0]),
      device.name,
      selection.passed_over.empty() ? "there is no variant for it" : joined(selection.passed_over));
}

}  // namespace tokamak
