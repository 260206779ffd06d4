// Unigram: of all ways to spell a word with tokens, the one whose scores add up to the most (Kudo
// 2018, arXiv:1804.10959), found from left to right in one pass.
#include <algorithm>
#include <cmath>
#include <limits>

#include "text/tokenizer/byte_trie.h"
#include "text/tokenizer/json_fields.h"
#include "text/tokenizer/token_model.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

constexpr double kUnkPenalty = 10;       // below the worst token, as SentencePiece has it
constexpr size_t kMaxTokenBytes = 4096;  // the search reads so far ahead at every character
constexpr uint32_t kUnknown = UINT32_MAX;

class Unigram : public TokenModel {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, const std::vector<bool>& is_piece,
          std::optional<uint32_t> unk, bool byte_fallback)
      : TokenModel(std::move(vocabulary)), scores_(std::move(scores)), unk_(unk) {
    if (byte_fallback) byte_tokens_ = find_byte_tokens(this->vocabulary());
    for (uint32_t id = 0; id < scores_.size(); ++id) {
      if (!is_piece[id]) continue;
      trie_.add(this->vocabulary().token(id), id);
      unk_score_ = std::min(unk_score_, scores_[id] - kUnkPenalty);
    }
  }

  void encode(std::string_view word, WordCache& cache, std::vector<uint32_t>& ids) const override {
    if (cache.append_known(word, ids)) return;
    const size_t first = ids.size();
    const std::vector<Step> steps = best_path(word);
    for (size_t i = 0; i < steps.size(); ++i) {
      Step step = steps[i];
      while (is_unknown(step.id) && i + 1 < steps.size() && is_unknown(steps[i + 1].id)) {
        step.end = steps[++i].end;  // neighbouring unknowns are one
      }
      append(word.substr(step.begin, step.end - step.begin), ids);
    }
    cache.remember(word, ids, first);
  }

 private:
  struct Step {
    size_t begin, end;
    uint32_t id;
  };
  struct Node {  // the best way to spell everything before this byte
    double score = 0;
    size_t begin = 0;
    uint32_t id = 0;
    bool reached = false;
  };

  bool is_unknown(uint32_t id) const { return id == kUnknown || id == unk_; }

  std::vector<Step> best_path(std::string_view word) const {
    std::vector<Node> nodes(word.size() + 1);
    const auto offer = [&](size_t begin, size_t end, uint32_t id, double score) {
      const double total = nodes[begin].score + score;
      Node& node = nodes[end];
      if (!node.reached || total > node.score) node = {total, begin, id, true};
    };
    for (size_t at = 0; at < word.size();) {
      const size_t char_bytes = first_char(word.substr(at)).bytes;
      bool has_char = false;
      trie_.each_prefix(word.substr(at), [&](ByteTrie::Found found) {
        offer(at, at + found.bytes, found.value, scores_[found.value]);
        has_char = has_char || found.bytes == char_bytes;
      });
      if (!has_char) offer(at, at + char_bytes, kUnknown, unk_score_);
      at += char_bytes;
    }
    std::vector<Step> steps;
    for (size_t end = word.size(); end > 0; end = nodes[end].begin) {
      steps.push_back({nodes[end].begin, end, nodes[end].id});
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  void append(std::string_view piece, std::vector<uint32_t>& ids) const {
    if (const auto id = vocabulary().find(piece)) {
      ids.push_back(*id);
    } else if (!append_byte_tokens(byte_tokens_, piece, ids) && unk_) {
      ids.push_back(*unk_);
    }
  }

  std::vector<double> scores_;  // by id
  std::optional<uint32_t> unk_;
  ByteTokens byte_tokens_{};
  ByteTrie trie_;
  double unk_score_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Result<TokenModelPtr> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                   const std::vector<bool>& is_piece, std::optional<uint32_t> unk,
                                   bool byte_fallback) {
  for (uint32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.token(id).size() > kMaxTokenBytes) {
      return unsupported("A token has {} bytes; at most {} are supported.",
                         vocabulary.token(id).size(), kMaxTokenBytes);
    }
  }
  return std::make_unique<const Unigram>(std::move(vocabulary), std::move(scores), is_piece, unk,
                                         byte_fallback);
}

Result<TokenModelPtr> read_unigram(const Json& json) {
  TOK_TRY(const Json* vocab, require_field(json, "vocab", Json::Kind::kArray));
  const Json::Array& items = vocab->as_array();
  size_t bytes = 0;
  for (const Json& item : items) {
    if (!item.is_array() || item.as_array().size() != 2 || !item.as_array()[0].is_string() ||
        !item.as_array()[1].is_number() || !std::isfinite(item.as_array()[1].as_number())) {
      return invalid_input("\"vocab\" has {}; a pair of token and score is expected.", item.dump());
    }
    bytes += item.as_array()[0].as_string().size();
  }
  TOK_TRY(Vocabulary vocabulary, Vocabulary::with_room(items.size(), bytes));
  std::vector<double> scores;
  for (const Json& item : items) {
    TOK_TRY(vocabulary.add(item.as_array()[0].as_string(), uint32_t(scores.size())));
    scores.push_back(item.as_array()[1].as_number());
  }
  TOK_TRY(const uint32_t unk, u32_field(json, "unk_id", kUnknown));
  if (unk != kUnknown && unk >= scores.size()) {
    return invalid_input("\"unk_id\" is {}, but the vocabulary has {} tokens.", unk, scores.size());
  }
  TOK_TRY(const bool byte_fallback, bool_field(json, "byte_fallback", false));
  const std::vector<bool> is_piece(scores.size(), true);
  return make_unigram(std::move(vocabulary), std::move(scores), is_piece,
                      unk == kUnknown ? std::nullopt : std::optional(unk), byte_fallback);
}

}  // namespace tokamak
