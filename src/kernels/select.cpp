#include "kernels/select.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "graph/text.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/merge_splits.h"
#include "kernels/attention/rope_append.h"
#include "kernels/attention/step_attention.h"
#include "kernels/collective/collective.h"
#include "kernels/conv/causal_conv.h"
#include "kernels/conv/half_snake.h"
#include "kernels/conv/short_conv.h"
#include "kernels/conv/transposed_conv.h"
#include "kernels/conv/unfold.h"
#include "kernels/cpu/variants.h"
#include "kernels/cuda/variants.h"
#include "kernels/delta/gated_delta.h"
#include "kernels/delta/selective_scan.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/embed/embed.h"
#include "kernels/embed/positions.h"
#include "kernels/experts/expert_matvec.h"
#include "kernels/experts/experts.h"
#include "kernels/experts/fused_experts.h"
#include "kernels/latent/latent.h"
#include "kernels/library/library.h"
#include "kernels/linear/linear.h"
#include "kernels/lora/lora.h"
#include "kernels/norm/fused_norm.h"
#include "kernels/norm/group_norm.h"
#include "kernels/norm/half_norms.h"
#include "kernels/norm/layer_norm.h"
#include "kernels/norm/norm_add.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/sampling/sample_token.h"
#include "kernels/sampling/sampling.h"
#include "kernels/sampling/topk_tokens.h"

namespace tokamak {
namespace {

std::vector<KernelVariant> collect() {
  std::vector<KernelVariant> all;
  for (const std::span<const KernelVariant> family :
       {vector_variants(),          embed_variants(),          position_variants(),
        linear_variants(),          rms_norm_variants(),       layer_norm_variants(),
        half_norm_variants(),       fused_norm_variants(),     group_norm_variants(),
        unfold_variants(),          half_snake_variants(),     causal_conv_variants(),
        transposed_conv_variants(), elementwise_variants(),    rope_variants(),
        attention_variants(),       step_attention_variants(), conv_variants(),
        gated_delta_variants(),     expert_matvec_variants(),  expert_variants(),
        fused_expert_variants(),    sampling_variants(),       sample_token_variants(),
        top_token_variants(),       library_variants(),        lora_variants(),
        norm_add_variants(),        rope_append_variants(),    selective_scan_variants(),
        latent_variants(),          merge_splits_variants(),   collective_variants()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  const std::vector<KernelVariant> cuda = cuda_variants(all);
  all.insert(all.end(), cuda.begin(), cuda.end());
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

Result<void> check_variants(const ForcedVariants& variants) {
  for (const auto& [op, name] : variants) {
    std::vector<std::string_view> ops, names;
    for (size_t i = 0; i < std::variant_size_v<Op>; ++i) ops.push_back(op_name_at(i));
    if (!std::ranges::count(ops, op)) {
      return fail(ErrorCode::kUsage, "There is no op \"{}\"{}; there are {}.", op,
                  did_you_mean(op, ops), fmt::join(ops, ", "));
    }
    for (const KernelVariant& variant : all_variants()) {
      if (op_name_at(variant.op) == op) names.push_back(variant.name);
    }
    if (!std::ranges::count(names, name)) {
      return fail(ErrorCode::kUsage, "{} has no variant \"{}\"{}; it has {}.", op, name,
                  did_you_mean(name, names), fmt::join(names, ", "));
    }
  }
  return {};
}

std::string problem_text(const Problem& problem) {
  std::string text(op_name(*problem.op));
  text += attributes_text(*problem.op);
  for (const TensorDesc& in : problem.inputs) text += ' ' + type_text(in);
  text += " ->";
  for (const TensorDesc& out : problem.outputs) text += ' ' + type_text(out);
  if (problem.cut.total != 0) {
    text += fmt::format(" rows {}/{}", problem.cut.first, problem.cut.total);
  }
  return text + fmt::format(" in steps of {}", problem.max_tokens);
}

namespace {

class Choice {
 public:
  Choice(const Problem& problem, const DeviceInfo& device, const VariantAdvice& advice)
      : problem_(problem), device_(device), advice_(advice) {
    for (const KernelVariant& variant : all_variants()) {
      if (variant.op == problem.op->index() && variant.backend == device.backend) {
        table_.push_back(&variant);
      }
    }
  }

  Result<Selection> among(ForcedVariants::const_iterator first,
                          ForcedVariants::const_iterator last) {
    for (; first != last; ++first) {
      const KernelVariant* variant = find_variant(first->second);
      if (variant == nullptr || !takes(*variant)) continue;
      return chosen(*variant,
                    [&](std::string_view) { return fmt::format("{} is forced", variant->name); });
    }
    std::vector<std::string_view> others;
    const std::vector<std::string> reasons = passed_over_;
    for (const KernelVariant* variant : table_) {
      if (takes(*variant)) others.push_back(variant->name);
    }
    return unsupported("No forced variant computes {} on \"{}\" ({}); those that do are {}.",
                       problem_text(problem_), device_.name, joined(reasons),
                       others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", ")));
  }

  Result<Selection> best() {
    const auto [first, last] = advice_.preferred.equal_range(op_name(*problem_.op));
    for (auto wish = first; wish != last; ++wish) {
      const KernelVariant* variant = find_variant(wish->second);
      if (variant == nullptr || variant->backend != device_.backend || !takes(*variant)) continue;
      return chosen(*variant, [&](std::string_view) {
        return fmt::format("the model prefers {}", variant->name);
      });
    }
    const auto tuned = advice_.tuned.find(problem_text(problem_));
    if (tuned != advice_.tuned.end()) {
      const KernelVariant* variant = find_variant(tuned->second.name);
      if (variant != nullptr && takes(*variant)) {
        return chosen(*variant,
                      [&](std::string_view other) { return slower(tuned->second, other); });
      }
    }
    for (const KernelVariant* variant : table_) {
      if (takes(*variant)) return chosen(*variant, [](std::string_view) { return ""; });
    }
    return unsupported("No {} kernel computes {} {} on \"{}\" ({}).", backend_name(device_.backend),
                       op_name(*problem_.op),
                       problem_.outputs.empty() ? "" : type_text(problem_.outputs[0]), device_.name,
                       table_.empty() ? "there is no variant for it" : joined(passed_over_));
  }

 private:
  /// Keeps the reason when it does not; asked again, it is not kept again.
  bool takes(const KernelVariant& variant) {
    std::string reason = refusal(variant, problem_, device_);
    const auto wrong = advice_.wrong.find(variant.name);
    if (reason.empty() && wrong != advice_.wrong.end()) {
      reason = fmt::format("computes wrongly on this device: {}", wrong->second);
    }
    if (reason.empty() && advice_.exact && variant.rounding > 0) {
      reason = "rounds what it multiplies, which exact precision rules out";
    }
    if (reason.empty()) return true;
    std::string line = fmt::format("{}: {}", variant.name, reason);
    if (!std::ranges::count(passed_over_, line)) passed_over_.push_back(std::move(line));
    return false;
  }

  /// `why(name)` says why each better one that takes the problem was not asked.
  Selection chosen(const KernelVariant& variant, const auto& why) {
    std::vector<std::string> asked = std::exchange(passed_over_, {});
    for (const KernelVariant* better : table_) {
      if (better == &variant) break;
      if (takes(*better)) {
        passed_over_.push_back(fmt::format("{}: {}", better->name, why(better->name)));
      }
    }
    for (std::string& line : asked) {
      if (!std::ranges::count(passed_over_, line)) passed_over_.push_back(std::move(line));
    }
    return {&variant, std::move(passed_over_)};
  }

  static std::string slower(const TunedVariant& tuned, std::string_view other) {
    const auto own = tuned.seconds.find(tuned.name), its = tuned.seconds.find(other);
    if (own == tuned.seconds.end() || its == tuned.seconds.end()) {
      return fmt::format("tuned: {} is faster", tuned.name);
    }
    return fmt::format("tuned: {:.1f} us against {:.1f} us", its->second * 1e6, own->second * 1e6);
  }

  const Problem& problem_;
  const DeviceInfo& device_;
  const VariantAdvice& advice_;
  std::vector<const KernelVariant*> table_;  // of the op, best first
  std::vector<std::string> passed_over_;
};

}  // namespace

Result<Selection> select_variant(const Problem& problem, const DeviceInfo& device,
                                 const ForcedVariants& forced, const VariantAdvice& advice) {
  Choice choice(problem, device, advice);
  const auto [first, last] = forced.equal_range(op_name(*problem.op));
  return first != last ? choice.among(first, last) : choice.best();
}

}  // namespace tokamak
