// The "pre_tokenizer" of tokenizer.json: a list of steps that cut the text into words, some of
// which rewrite it too.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/text_pattern.h"

namespace tokamak {

/// A text and the words it is cut into, in order.
struct WordList {
  struct Word {
    TextRange range;
    bool at_start;  // begins where the whole input begins
  };
  std::string text;
  std::vector<Word> words;

  std::string_view view(const Word& word) const {
    return std::string_view(text).substr(word.range.begin, word.range.end - word.range.begin);
  }
};

class PreTokenizer {
 public:
  struct Split {
    TextPattern pattern;
    SplitBehavior behavior;
    bool invert;
  };
  /// Every byte becomes a character (byte_level.h), after an optional cut into words.
  struct ByteLevel {
    bool add_prefix_space;
    std::optional<Regex> words;
  };
  enum class CharClass : uint8_t { kWhitespace, kNumeric, kPunctuation };
  struct SplitChars {
    CharClass chars;
    SplitBehavior behavior;
  };
  enum class Prepend : uint8_t { kNever, kFirst, kAlways };
  struct Metaspace {
    std::string replacement;
    Prepend prepend;
    bool split;
  };
  using Step = std::variant<Split, ByteLevel, SplitChars, Metaspace>;

  /// Null gives a pre-tokenizer that leaves the text as one word.
  static Result<PreTokenizer> from_json(const Json& json);

  Result<void> apply(WordList& list) const;

 private:
  static Result<void> add_steps(const Json& json, std::vector<Step>& steps);

  std::vector<Step> steps_;  // a Sequence is flattened
};

/// The meaning of "Metaspace", for the pre-tokenizer and the decoder of that name.
Result<PreTokenizer::Metaspace> read_metaspace(const Json& json);

}  // namespace tokamak
