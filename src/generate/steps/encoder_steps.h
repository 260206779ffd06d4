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

/// Makes numbers of the hidden states of an input, a row for each token, which take the place of
/// the row that the plan pools of them. Unset: the pooled rows are wanted.
using EncoderRows = std::function<std::vector<float>(std::span<const float> rows)>;

/// Whether the plan's results are pooled of rows that EncoderRows can have: of every token, each
/// text in one step.
bool has_encoder_rows(const Plan& plan);

/// The rows of the inputs, in their order. The program serves this alone: sessions on it end. What
/// a lost device has not given is run again. `cancelled` is asked before each step.
/// REQUIRES: the plan gives a row for each slot, or has_encoder_rows() for `rows`; no input is
/// longer than its page tables. Errors: an input without tokens or with an id beyond `vocab`, the
/// device's own, kCancelled.
Result<std::vector<std::vector<float>>> run_encoder(Program& program, uint32_t vocab,
                                                    std::span<const EncoderInput> inputs,
                                                    const std::function<bool()>& cancelled = {},
                                                    const EncoderRows& rows = {});

}  // namespace tokamak
