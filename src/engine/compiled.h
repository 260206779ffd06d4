// CompiledModel: what becomes of a model's files for a device before anything runs.
#pragma once
#include <optional>
#include <vector>

#include "engine/hints.h"
#include "fuse/pipeline.h"
#include "generate/speculation.h"
#include "graph/graph.h"
#include "model/arch.h"
#include "model/sentence_transformers.h"
#include "plan/plan.h"

namespace tokamak {

/// What a draft model takes of the device beside the model whose drafts it makes.
struct DraftMemory {
  uint64_t bytes = 0;       // without what follows
  uint64_t page_bytes = 0;  // for each page of that model's cache, of its own
};

/// The graph before and after fusion, and the plan for a device, without running anything.
struct CompiledModel {
  ModelFacts facts;
  Graph unfused, fused;
  Graph short_steps;  // fused for steps of at most fuse::kShortStep tokens
  /// Those of steps of one token: with logits, with a list of the most probable tokens, and with
  /// the choice of the next one. The last two are of no use where the model gives no logits.
  Graph one_token, sampled, greedy;
  /// Those of steps of one token of each of several sequences, and of steps that verify drafts.
  Graph batch_sampled, batch_greedy, verify;
  std::vector<uint32_t> replacements;  // of one_token, per pass of fuse::passes()
  /// On request, or since no right kernel computes what they make.
  fuse::DisabledPasses disabled_passes;
  fuse::Target target;  // what the passes counted on
  Plan plan;
  uint32_t context = 0;
  std::optional<VisionTower> vision;  // set: the plan reads images
  std::optional<Plan> tower;          // of that, which runs before it
  Error text_only;                    // not set: why it does not
  Graph images;                       // fused for steps with images
  std::optional<Encoder> encoder;     // set: the result is an embedding
  std::optional<SpeechModel> speech;  // set: the plan hears
  std::vector<Graph> stages;          // of that, fused
  std::optional<VoiceModel> voice;    // set: the plan speaks
  ModelHints hints;
  SpeculationOptions speculation;
  DraftMemory draft;  // nothing where there is no draft model
  /// Otherwise the result is an embedding, a logit of a pair, or what a model hears or says.
  bool gives_text() const { return !encoder && !facts.score && !is_for_sound(); }
  bool is_for_sound() const { return facts.hears || facts.speaks; }  // one text at a time
};

}  // namespace tokamak
