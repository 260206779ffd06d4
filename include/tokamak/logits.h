// How tokens become logits.
#pragma once
#include <functional>
#include <string>

namespace tokamak {

struct LogitsOptions {
  /// After each token, not only the last: at most 8 tokens run in a step then.
  bool all = false;
  /// The name of one of ModelOptions::adapters; "": the model as it is.
  std::string adapter = {};
  /// Asked before every step, by the model's thread; must not block.
  std::function<bool()> cancelled = {};
};

}  // namespace tokamak
