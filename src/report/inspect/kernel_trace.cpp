#include "report/inspect/kernel_trace.h"

#include <map>

namespace tokamak {

std::string kernel_trace(const Plan& plan) {
  std::string out;
  for (const Phase& phase : plan.phases) {
    std::map<std::pair<const KernelVariant*, std::vector<std::string>>, size_t> seen;
    for (size_t i = 0; i < phase.steps.size(); ++i) {
      const Step& step = phase.steps[i];
      out += fmt::format("{} {:>4}  {:<36} {}", phase.name, i, step.kernel->name,
                         type_text(step.outputs.front()));
      const auto [first, is_new] = seen.try_emplace({step.kernel, step.passed_over}, i);
      if (!is_new && !step.passed_over.empty()) out += fmt::format("  as {}", first->second);
      out += '\n';
      if (!is_new) continue;
      for (const std::string& reason : step.passed_over) {
        out += fmt::format("{:>{}}not {}\n", "", phase.name.size() + 9, reason);
      }
    }
  }
  return out;
}

}  // namespace tokamak
