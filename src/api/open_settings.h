// The options of opening a model that ModelOptions and OpenOptions have by the same name: the one
// list of them, from which come options by name and the copy from one struct to the other.
#pragma once
#include "engine/open_options.h"
#include "tokamak/model_options.h"

namespace tokamak {

/// Calls visit(NAME, MEMBER...) for each, with that member of each of `options`.
template <typename Visit, typename... Options>
void visit_open_options(const Visit& visit, Options&... options) {
  visit("model", options.model...);
  visit("backend", options.backend...);
  visit("device", options.device...);
  visit("gpus", options.gpus...);
  visit("split", options.split...);
  visit("threads", options.threads...);
  visit("context", options.context...);
  visit("sequences", options.sequences...);
  visit("cache_tokens", options.cache_tokens...);
  visit("memory", options.memory...);
  visit("kv", options.kv...);
  visit("precision", options.precision...);
  visit("quantize", options.quantize...);
  visit("image_pixels", options.image_pixels...);
  visit("projector", options.projector...);
  visit("batch_invariant", options.batch_invariant...);
  visit("speculate", options.speculate...);
  visit("draft", options.draft...);
  visit("pooling", options.pooling...);
}

}  // namespace tokamak
