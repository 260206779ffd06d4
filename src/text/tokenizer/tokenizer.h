// Text to token ids and back, as a Hugging Face tokenizer.json or a GGUF file describes it.
//
//   text -> added tokens -> normalizer -> added tokens -> pre-tokenizer -> model -> post-processor
//   ids  -> tokens -> decoder -> text
//
// The file decides, never the name of a model; a step of an unknown type is an error that names it.
// A tokenizer does not change once it is read and may be used from several threads.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/tokenizer_config.h"

namespace tokamak {

struct GgufVocab;
struct TokenizerParts;

struct EncodeOptions {
  bool add_special = true;  // what the post-processor adds, such as <bos>
  // false: special tokens in the text are plain text. Unset: as the files say, mostly true.
  std::optional<bool> parse_special = {};
  /// Ascending places in the text, which is UTF-8 then: a special token that has one of them in it
  /// is plain text.
  std::span<const size_t> plain_at = {};
};

/// Two texts as one sequence, and which of them each token is of: 0 or 1.
struct PairEncoding {
  std::vector<uint32_t> ids, types;
};

class Tokenizer {
 public:
  static constexpr size_t kMaxTextBytes = size_t{1} << 30;

  /// The files beside tokenizer.json give the roles of special tokens, tokens that it leaves out,
  /// and a few other facts (docs/tokenizers.md).
  static Result<Tokenizer> from_files(const TokenizerFiles& files);
  static Result<Tokenizer> from_json(std::string_view tokenizer_json,
                                     std::string_view config_json = {}) {
    return from_files({.tokenizer = tokenizer_json, .config = config_json});
  }

  /// Makes one of a GGUF file, by way of gguf_vocab.h. Errors name the key of its metadata.
  static Result<Tokenizer> from_gguf(const GgufVocab& vocab);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Bytes that are not UTF-8 become U+FFFD first. Fails for a text above kMaxTextBytes, and when a
  /// regular expression of the file needs too many steps on this text.
  Result<std::vector<uint32_t>> encode(std::string_view text, EncodeOptions options = {}) const;

  /// Two texts with what the post-processor puts around and between them; special tokens in the
  /// texts are plain text. Where all are more than `room` tokens, the second is cut at its end, as
  /// far as that helps.
  Result<PairEncoding> encode_pair(std::string_view first, std::string_view second,
                                   size_t room = SIZE_MAX) const;

  /// The places that keep this text's own special tokens plain, wherever in a text it stands; also
  /// where what follows would make one of its end. `text` is UTF-8.
  std::vector<size_t> special_places(std::string_view text) const;

  /// An id that has no token gives no text. Bytes that do not form UTF-8 become U+FFFD.
  std::string decode(std::span<const uint32_t> ids, bool skip_special = false) const;

  /// One more than the largest id.
  uint32_t vocab_size() const;
  std::optional<uint32_t> token_to_id(std::string_view token) const;
  /// The token as the vocabulary spells it, or nothing for an id without one.
  std::optional<std::string_view> token(uint32_t id) const;
  bool is_special(uint32_t id) const;
  /// The bytes that the token adds to a text, which it begins or not: it may hold a part of a
  /// character. Nothing for an id without a token.
  std::string bytes(uint32_t id, bool begins = false) const;

  /// The token that the file gives a role: "bos_token", "eos_token", "pad_token", ...
  std::optional<std::string_view> role_token(std::string_view role) const;
  std::optional<uint32_t> role_id(std::string_view role) const;

 private:
  friend class StreamDecoder;
  explicit Tokenizer(std::unique_ptr<const TokenizerParts> parts);
  std::unique_ptr<const TokenizerParts> parts_;
};

/// Decodes one token at a time. What push() returns is final and whole characters; everything
/// pushed, and finish() at the end, together equal Tokenizer::decode of the same ids.
class StreamDecoder {
 public:
  /// REQUIRES: the tokenizer outlives this.
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = false);
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;
  ~StreamDecoder();

  /// The text that is certain now; often empty when a character is cut or may yet change.
  std::string push(uint32_t id);
  /// The rest. Nothing may be pushed afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tokamak
