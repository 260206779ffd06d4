// The results of phases that choose tokens, for their readers.
#pragma once
#include <algorithm>
#include <variant>

#include "backend/backend.h"

namespace tokamak {

/// Numbers up to here are exact as f32, which is how ids come from the device.
inline constexpr uint32_t kMaxExactVocab = 1u << 24;

/// Numbers of a row of a result: a list and its token, or a token alone.
inline size_t row_size(const Operand& result) {
  return result.shape.size() == 2 ? size_t(result.shape[1]) : 1;
}

/// Most rows of a step of a phase of that kind; 0: there is none.
inline uint32_t max_rows(const Plan& plan, PhaseKind kind) {
  uint32_t most = 0;
  for (const Phase& phase : plan.phases) {
    if (phase.kind == kind) most = std::max(most, phase.max_tokens);
  }
  return most;
}

/// Makes copies on the device and runs nothing. `copies` outlives it.
inline StepRequest copies_alone(std::span<const BufferCopy> copies) {
  StepRequest request{.phase = 0, .slots = {}, .tokens = {}, .done = {}};
  request.repeat = 0;
  request.continues = true;
  request.copies = copies;
  return request;
}

/// The step that makes the list of the most probable tokens. REQUIRES: the phase has one.
inline const Step& list_step(const Phase& phase) {
  const auto makes_list = [](const Step& step) {
    return std::holds_alternative<TopKTokens>(step.op);
  };
  return *std::ranges::find_if(phase.steps, makes_list);
}

}  // namespace tokamak
