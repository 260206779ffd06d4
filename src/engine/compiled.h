// CompiledModel: what becomes of a model's files for a device before anything runs.
#pragma once
#include <optional>

#include "compile/part.h"
#include "engine/files/hints.h"
#include "engine/lexical_head.h"
#include "generate/speculate/speculation.h"
#include "model/arch.h"
#include "model/sentence_transformers.h"

namespace tokamak {

/// The memory that a draft model takes of the device beside the model whose drafts it makes.
struct DraftMemory {
  uint64_t bytes = 0;       // without what follows
  uint64_t page_bytes = 0;  // for each page of that model's cache, of its own
};

/// The parts of a model for a device, without running anything. A draft model is one of its own.
struct CompiledModel {
  ModelFacts facts;
  CompiledPart main;  // the text, with what it reads beside tokens: the rows of images, a sound
  /// On request, or since no right kernel computes what they make.
  fuse::DisabledPasses disabled_passes;
  fuse::Target target;  // what the passes counted on
  uint32_t context = 0;
  std::optional<VisionTower> vision;   // set: the model reads images
  std::optional<CompiledPart> tower;   // of that, which runs before the main part
  Error text_only;                     // not set: why it does not
  std::optional<Encoder> encoder;      // set: the result is an embedding
  std::optional<LexicalHead> lexical;  // set: and of each token a weight
  std::optional<SpeechModel> speech;   // set: the model hears
  std::optional<VoiceModel> voice;     // set: the model speaks
  ModelHints hints;
  SpeculationOptions speculation;
  DraftMemory draft;  // nothing where there is no draft model
  /// Otherwise the result is an embedding, a logit of a pair, or what a model hears or says.
  bool gives_text() const { return !encoder && !facts.score && !is_for_sound(); }
  bool is_for_sound() const { return facts.hears || facts.speaks; }  // one text at a time
};

}  // namespace tokamak
