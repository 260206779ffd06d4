// The options of a scheduler.
#pragma once
#include <cstdint>

#include "generate/speculate/speculation.h"
#include "generate/steps/image_rows.h"

namespace tokamak {

class DraftModel;

struct SchedulerOptions {
  uint32_t context = 0;  // positions that the plan was built for
  uint32_t vocab = 0;
  uint32_t adapters = 0;  // that requests may name
  /// Most tokens of prompts that are read between two steps that decode; 0: those of a chunk.
  uint32_t prefill_tokens = 256;
  /// Fewer than those are read where they take longer than a step that decodes, but not fewer than
  /// these. Where both are the same the number is fixed.
  uint32_t min_prefill_tokens = 32;
  bool shares_prefixes = true;
  SpeculationOptions speculation;  // of no use where the plan has no phases that verify
  /// The draft model, where `speculation` uses one; it has as many slots as the program. REQUIRES:
  /// outlives the scheduler.
  DraftModel* drafts = nullptr;
  /// The images that prompts may name; null: they are text. REQUIRES: outlives the scheduler.
  ImageRows* images = nullptr;
};

}  // namespace tokamak
