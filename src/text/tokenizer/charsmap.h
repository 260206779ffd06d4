// SentencePiece's table of characters, "precompiled_charsmap": beginnings of texts and their
// replacements. Reference: the crate spm_precompiled, whose ways tokenizer.json's readers have;
// google/sentencepiece, normalizer.cc; the trie is that of darts-clone.
//
//   bytes := u32 length of the trie in bytes, trie, replacements, each with a 0 at its end
//   trie  := units of u32: the label of the byte that leads here, whether a value follows, and the
//            offset to what follows; or a value, the place of the replacement
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak {

class CharsMap {
 public:
  /// Errors: lengths that do not fit.
  static Result<CharsMap> parse(std::string_view bytes);

  /// Replaces what a reader takes for a character, if it is short, or else its code points.
  std::string apply(std::string_view text) const;

 private:
  /// The replacement for the shortest beginning of `part` that has one.
  std::optional<std::string_view> find(std::string_view part) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace tokamak
