// The rules for every graph's text and every plan.
#pragma once
#include "graph/graph.h"
#include "plan/plan.h"

namespace tokamak::invariants {

/// Fails the running test unless the graph's text parses to a graph of the same text and values.
void expect_same_text(const Graph& graph);

/// Fails the running test unless the plan's text parses to an equal plan and no step binds a buffer
/// for writing beside another operand in it: WebGPU forbids it.
void expect_sound(const Plan& plan);

}  // namespace tokamak::invariants
