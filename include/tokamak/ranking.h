// How documents are ranked for a query.
#pragma once
#include <functional>
#include <string>

namespace tokamak {

struct RerankOptions {
  std::string instruction = {};  // what counts as an answer, for models that read one
                                 // (Qwen3-Reranker); "": the one they are published with
  bool truncate = true;          // cut documents that do not fit at their end, instead of an error
  /// Asked between steps, by the model's thread; must not block.
  std::function<bool()> cancelled = {};
};

}  // namespace tokamak
