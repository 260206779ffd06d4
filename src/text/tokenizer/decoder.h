// The "decoder" of tokenizer.json: tokens to text, one token at a time.
//
// Each step is a sink that gets the tokens and gives what is certain to the next sink at once, so
// that decoding a whole text and streaming it are the same code.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/tokenizer/text_pattern.h"

namespace tokamak {

class TokenSink {
 public:
  virtual ~TokenSink() = default;
  /// A token may come in several pieces; the last one has `ends_token`.
  virtual void piece(std::string_view text, bool ends_token) = 0;
  /// No more tokens: what was held back goes out.
  virtual void finish() = 0;
};
using TokenSinkPtr = std::unique_ptr<TokenSink>;

class Decoder {
 public:
  struct JoinWithSpaces {};
  struct ByteLevel {};
  struct ByteFallback {};
  struct Fuse {};
  struct Replace {
    TextPattern pattern;
    std::string content;
  };
  struct Strip {
    char32_t content;
    uint32_t start;  // at most that many from the start of each token
    uint32_t stop;
  };
  struct Metaspace {
    std::string replacement;
    bool drops_first;
  };
  struct WordPiece {
    std::string prefix;
    bool cleanup;
  };
  struct WordSuffix {
    std::string suffix;
  };
  using Step = std::variant<JoinWithSpaces, ByteLevel, ByteFallback, Fuse, Replace, Strip,
                            Metaspace, WordPiece, WordSuffix>;

  /// Null joins the tokens with spaces.
  static Result<Decoder> from_json(const Json& json);

  /// A sink for tokens, whose text goes to `out`. Borrows the decoder and `out`.
  TokenSinkPtr open(std::string& out) const;

  /// The bytes that `token` adds to a text, which it begins or not: it may hold a part of a
  /// character.
  std::string bytes_of(std::string_view token, bool begins) const;

 private:
  static Result<void> add_steps(const Json& json, std::vector<Step>& steps);

  std::vector<Step> steps_;  // a Sequence is flattened
};

}  // namespace tokamak
