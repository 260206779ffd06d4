// The "normalizer" of tokenizer.json: a list of rewrites of the text before it is cut.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/charsmap.h"
#include "text/tokenizer/text_pattern.h"
#include "text/unicode/unicode.h"

namespace tokamak {

class Normalizer {
 public:
  struct Lowercase {};
  struct StripAccents {};
  struct ByteLevel {};
  struct Replace {
    TextPattern pattern;
    std::string content;
  };
  struct Prepend {
    std::string text;
  };
  struct Strip {
    bool left;
    bool right;
  };
  struct Bert {
    bool clean_text;
    bool separate_chinese;
    bool strip_accents;
    bool lowercase;
  };
  using Step = std::variant<NormalForm, Lowercase, StripAccents, ByteLevel, Replace, Prepend, Strip,
                            Bert, CharsMap>;

  /// Null gives a normalizer that changes nothing.
  static Result<Normalizer> from_json(const Json& json);

  /// REQUIRES: valid UTF-8.
  Result<std::string> apply(std::string text) const;

 private:
  static Result<void> add_steps(const Json& json, std::vector<Step>& steps);

  std::vector<Step> steps_;  // a Sequence is flattened
};

}  // namespace tokamak
