#include "invariants/plan_checks.h"

#include <gtest/gtest.h>

#include <set>

#include "graph/text.h"
#include "plan/text.h"

namespace tokamak::invariants {

void expect_same_text(const Graph& graph) {
  const std::string text = to_text(graph);
  const auto parsed = parse_graph(text);
  ASSERT_TRUE(parsed) << parsed.error().message << "\n" << text;
  EXPECT_EQ(to_text(*parsed), text);
  EXPECT_EQ(parsed->nodes.size(), graph.nodes.size());
  EXPECT_EQ(parsed->values.size(), graph.values.size());
}

void expect_sound(const Plan& plan) {
  const std::string text = to_text(plan);
  const auto parsed = parse_plan(text);
  ASSERT_TRUE(parsed) << parsed.error().message << "\n" << text;
  EXPECT_TRUE(*parsed == plan) << text;

  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      std::set<BufferId> read, written;
      for (const Operand& input : step.inputs) read.insert(input.buffer);
      for (const Operand& output : step.outputs) {
        const auto place = uint32_t(output.buffer);
        EXPECT_TRUE(written.insert(output.buffer).second)
            << step.kernel->name << " writes two results to buffer " << place;
        EXPECT_FALSE(read.contains(output.buffer))
            << step.kernel->name << " reads and writes buffer " << place;
        EXPECT_NE(plan.at(output.buffer).use, BufferUse::kConstant) << step.kernel->name;
        const TensorDesc tensor{.shape = output.shape, .dtype = output.dtype};
        EXPECT_LE(byte_count(tensor, phase.max_tokens), plan.at(output.buffer).bytes)
            << step.kernel->name;
      }
    }
  }
}

}  // namespace tokamak::invariants
