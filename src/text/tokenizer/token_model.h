// The "model" of tokenizer.json: a vocabulary and a way to spell a word with it.
//
// One file per type: bpe.cpp, unigram.cpp, wordpiece.cpp; token_model.cpp knows the names.
#pragma once
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/model_tables.h"
#include "text/tokenizer/vocabulary.h"

namespace tokamak {

/// The places of recent words in the ids written so far. Short words only; a newer word takes the
/// place of an older one with the same hash.
class WordCache {
 public:
  static constexpr size_t kMaxWordBytes = 40;

  /// `text_bytes` is how much is going to be encoded.
  explicit WordCache(size_t text_bytes);

  /// Appends the ids of `word` when it is known.
  bool append_known(std::string_view word, std::vector<uint32_t>& ids) const;
  /// Remembers that ids[first..] are the ids of `word`.
  void remember(std::string_view word, const std::vector<uint32_t>& ids, size_t first);

 private:
  struct Entry {
    std::array<char, kMaxWordBytes> word{};
    uint32_t bytes = 0;
    uint32_t count = 0;
    size_t first = 0;
  };
  size_t place(std::string_view word) const;

  std::vector<Entry> entries_;
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;

  /// Appends the ids of `word`, which is not empty. `cache` belongs to `ids`.
  virtual void encode(std::string_view word, WordCache& cache,
                      std::vector<uint32_t>& ids) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

 private:
  Vocabulary vocabulary_;
};

using TokenModelPtr = std::unique_ptr<const TokenModel>;

/// The parts of the file outside of "model".
struct ModelSurroundings {
  const ModelTables* tables = nullptr;  // "vocab" and "merges", if they were cut out of "model"
  const Json* added_tokens = nullptr;
};

Result<TokenModelPtr> read_token_model(const Json& json, const ModelSurroundings& around = {});
Result<TokenModelPtr> read_bpe(const Json& json, const ModelSurroundings& around);
Result<TokenModelPtr> read_unigram(const Json& json);
Result<TokenModelPtr> read_wordpiece(const Json& json, const ModelSurroundings& around);

/// `scores` and `is_piece` are by id; only a piece spells text.
Result<TokenModelPtr> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                   const std::vector<bool>& is_piece, std::optional<uint32_t> unk,
                                   bool byte_fallback);
/// With "##" before what continues a word, as BERT has it.
TokenModelPtr make_wordpiece(Vocabulary vocabulary, uint32_t unk);

/// "vocab" as an object from token to id.
Result<Vocabulary> read_vocabulary(const Json& model);

/// The id of "unk_token", which may be an added token; nothing when it is absent or null.
Result<std::optional<uint32_t>> read_unk_token(const Json& model, const Vocabulary& vocabulary,
                                               const ModelSurroundings& around);

/// The ids of <0x00> ... <0xFF>, by byte, when the vocabulary has them.
using ByteTokens = std::array<std::optional<uint32_t>, 256>;
ByteTokens find_byte_tokens(const Vocabulary& vocabulary);

/// Appends the byte tokens of `bytes`, or nothing when one of them does not exist.
bool append_byte_tokens(const ByteTokens& tokens, std::string_view bytes,
                        std::vector<uint32_t>& ids);

}  // namespace tokamak
