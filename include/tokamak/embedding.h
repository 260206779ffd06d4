// How texts become vectors.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tokamak {

/// A token of a text, and how much it counts when words are matched.
struct TokenWeight {
  uint32_t id = 0;
  float weight = 0;  // above 0
};

/// The tokens of a text that count, in the order of their ids.
using SparseVector = std::vector<TokenWeight>;

struct EmbedOptions {
  /// A name in the model's prompts; "": none; unset: its default.
  std::optional<std::string> prompt = {};
  uint32_t dimensions = 0;             // only that many of the first numbers; 0: all
  std::optional<bool> normalize = {};  // to unit length; unset: by the model's own modules
  bool truncate = false;               // cut a text that does not fit, instead of an error
  /// Asked between the steps of a long text, by the model's thread; must not block.
  std::function<bool()> cancelled = {};
};

}  // namespace tokamak
