// Questions about the kind of an op.
#pragma once
#include "graph/ops.h"

namespace tokamak {

template <typename... Ops>
bool is_any(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

}  // namespace tokamak
