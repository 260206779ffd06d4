// Tokens that are found in the text before the model sees it: <s>, <|im_end|>, "\n\n", ...
//
// Those that are not "normalized" are looked for in the text as it comes, the others in what the
// normalizer makes of the pieces between. At each place the longest token counts.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/byte_trie.h"
#include "text/tokenizer/normalizer.h"

namespace tokamak {

struct AddedToken {
  static constexpr size_t kMaxBytes = 1024;  // the search reads so far ahead at every byte

  uint32_t id = 0;
  std::string content;
  bool single_word = false;  // only where no letter, digit or mark touches it
  bool lstrip = false;       // takes the blanks before it
  bool rstrip = false;       // takes the blanks after it
  bool normalized = false;
  bool special = false;
};

/// `json` is an entry of "added_tokens", or of "added_tokens_decoder", where the id is outside.
Result<AddedToken> read_added_token(const Json& json, std::optional<uint32_t> id = std::nullopt);

class AddedTokens {
 public:
  /// A part of a text: a token, or what is between tokens.
  struct Part {
    std::optional<uint32_t> id;
    size_t begin = 0;
    size_t end = 0;
  };
  enum class Stage : uint8_t { kRawText, kNormalizedText };

  /// Fails when one id or one content is given twice with different meanings.
  static Result<AddedTokens> build(std::vector<AddedToken> tokens, const Normalizer& normalizer);

  /// Cuts `text` at the tokens of one stage. With `parse_special` false, special tokens are text;
  /// so are those that have one of the places `plain_at`, which ascend, in them.
  std::vector<Part> split(std::string_view text, Stage stage, bool parse_special,
                          std::span<const size_t> plain_at = {}) const;

  /// The places in `text` where special tokens of one stage begin, and where its end may become
  /// one's beginning; ascending.
  std::vector<size_t> special_places(std::string_view text, Stage stage) const;

  const AddedToken* find(std::string_view content) const;
  /// Null when `id` is not an added token.
  const AddedToken* find(uint32_t id) const;
  const std::vector<AddedToken>& tokens() const { return tokens_; }

 private:
  std::vector<AddedToken> tokens_;  // by id
  ByteTrie raw_, normalized_;       // values are places in tokens_
};

}  // namespace tokamak
