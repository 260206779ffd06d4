// Stop strings over text that arrives in pieces: text is held back as long as it may still become
// part of a stop string, so that no part of one is ever printed.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

class StopMatcher {
 public:
  StopMatcher() = default;  // nothing stops

  /// Empty strings are ignored.
  explicit StopMatcher(std::vector<std::string> stops);

  /// Takes the next piece and returns the text that is now safe to show. When a stop string is
  /// complete this is the text before it; everything after is dropped and later pieces give
  /// nothing. The stop string that is complete first wins; of two that end at the same byte, the
  /// longer one. How the text is cut into pieces makes no difference.
  std::string push(std::string_view piece);

  /// The end of generation: gives back what was held. Nothing after a match.
  std::string finish();

  bool stopped() const { return matched_.has_value(); }
  /// Which stop string ended the text.
  std::optional<std::string_view> matched() const;

 private:
  std::vector<std::string> stops_;
  std::string held_;
  std::optional<size_t> matched_;
};

}  // namespace tokamak
