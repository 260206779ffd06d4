// Whole sequences through a model that gives a row of each: embeddings, scores. A step runs as many
// as fit, packed without padding; where one is longer than a step, it has several of its own.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "backend/backend.h"

namespace tokamak {

struct EncoderInput {
  std::span<const uint32_t> ids;
  std::span<const uint32_t> types = {};  // of every token, where the model asks; none: 0
};

/// The rows of the inputs, in their order. The program serves this alone: sessions on it end. What
/// a lost device has not given is run again. `cancelled` is asked before each step.
/// REQUIRES: the plan gives a row for each slot; no input is longer than its page tables.
/// Errors: an input without tokens or with an id beyond `vocab`, the device's own, kCancelled.
Result<std::vector<std::vector<float>>> run_encoder(Program& program, uint32_t vocab,
                                                    std::span<const EncoderInput> inputs,
                                                    const std::function<bool()>& cancelled = {});

}  // namespace tokamak
