// WordPiece: the longest token that starts the word, then the longest that continues it, and so on;
// a word that cannot be finished is unk (Devlin et al. 2018, bert/tokenization.py).
#include "text/tokenizer/json_fields.h"
#include "text/tokenizer/token_model.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

constexpr std::string_view kPrefix = "##";
constexpr uint32_t kDefaultMaxChars = 100;

class WordPiece : public TokenModel {
 public:
  WordPiece(Vocabulary vocabulary, uint32_t unk, std::string prefix, uint32_t max_chars)
      : TokenModel(std::move(vocabulary)),
        unk_(unk),
        prefix_(std::move(prefix)),
        max_chars_(max_chars) {}

  void encode(std::string_view word, WordCache& cache, std::vector<uint32_t>& ids) const override {
    if (cache.append_known(word, ids)) return;
    const size_t first = ids.size();
    if (!append_pieces(word, ids)) {
      ids.resize(first);
      ids.push_back(unk_);
    }
    cache.remember(word, ids, first);
  }

 private:
  /// False when `word` is too long or a part of it is no token.
  bool append_pieces(std::string_view word, std::vector<uint32_t>& ids) const {
    uint32_t chars = 0;
    for (size_t at = 0; at < word.size(); at += first_char(word.substr(at)).bytes) {
      if (++chars > max_chars_) return false;
    }
    std::string spelling;
    for (std::string_view rest = word; !rest.empty();) {
      spelling = rest.size() == word.size() ? "" : prefix_;
      const size_t prefix_bytes = spelling.size();
      spelling += rest;
      std::optional<uint32_t> id;
      while (spelling.size() > prefix_bytes && !(id = vocabulary().find(spelling))) {
        spelling.resize(spelling.size() - last_char(spelling).bytes);
      }
      if (!id) return false;
      ids.push_back(*id);
      rest.remove_prefix(spelling.size() - prefix_bytes);
    }
    return true;
  }

  uint32_t unk_;
  std::string prefix_;
  uint32_t max_chars_;
};

}  // namespace

TokenModelPtr make_wordpiece(Vocabulary vocabulary, uint32_t unk) {
  return std::make_unique<const WordPiece>(std::move(vocabulary), unk, std::string(kPrefix),
                                           kDefaultMaxChars);
}

Result<TokenModelPtr> read_wordpiece(const Json& json, const ModelSurroundings& around) {
  constexpr uint32_t kMaxChars = 1000;  // the search is quadratic in it
  TOK_TRY(Vocabulary vocabulary, read_vocabulary(json));
  TOK_TRY(const auto unk, read_unk_token(json, vocabulary, around));
  if (!unk) return invalid_input("The member \"unk_token\" is missing.");
  TOK_TRY(auto prefix, optional_string_field(json, "continuing_subword_prefix"));
  TOK_TRY(const uint32_t max_chars, u32_field(json, "max_input_chars_per_word", kDefaultMaxChars));
  if (max_chars > kMaxChars) {
    return unsupported("\"max_input_chars_per_word\" is {}; at most {} is supported.", max_chars,
                       kMaxChars);
  }
  return std::make_unique<const WordPiece>(
      std::move(vocabulary), *unk, std::move(prefix).value_or(std::string(kPrefix)), max_chars);
}

}  // namespace tokamak
