#include "text/tokenizer/added_tokens.h"

#include <algorithm>

#include "text/tokenizer/json_fields.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

bool ends_with_word(std::string_view text) {
  return !text.empty() && is_word(last_char(text).value);
}

bool starts_with_word(std::string_view text) {
  return !text.empty() && is_word(first_char(text).value);
}

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Utf8Char c = first_char(text.substr(at));
    if (!is_whitespace(c.value)) break;
    at += c.bytes;
  }
  return at;
}

size_t skip_blanks_back(std::string_view text, size_t at, size_t stop) {
  while (at > stop) {
    const Utf8Char c = last_char(text.substr(0, at));
    if (!is_whitespace(c.value)) break;
    at -= c.bytes;
  }
  return at;
}

}  // namespace

Result<AddedToken> read_added_token(const Json& json, std::optional<uint32_t> id) {
  AddedToken token;
  TOK_TRY(token.content, string_field(json, "content"));
  if (token.content.size() > AddedToken::kMaxBytes) {
    return unsupported("An added token has {} bytes; at most {} are supported.",
                       token.content.size(), AddedToken::kMaxBytes);
  }
  if (id) {
    token.id = *id;
  } else {
    TOK_TRY(token.id, u32_field(json, "id"));
  }
  TOK_TRY(token.single_word, bool_field(json, "single_word", false));
  TOK_TRY(token.lstrip, bool_field(json, "lstrip", false));
  TOK_TRY(token.rstrip, bool_field(json, "rstrip", false));
  TOK_TRY(token.special, bool_field(json, "special", false));
  TOK_TRY(token.normalized, bool_field(json, "normalized", !token.special));
  return token;
}

Result<AddedTokens> AddedTokens::build(std::vector<AddedToken> tokens,
                                       const Normalizer& normalizer) {
  AddedTokens added;
  std::erase_if(tokens, [](const AddedToken& token) { return token.content.empty(); });
  std::sort(tokens.begin(), tokens.end(), [](const AddedToken& a, const AddedToken& b) {
    return a.id != b.id ? a.id < b.id : a.content < b.content;
  });
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i].id == tokens[i - 1].id) {
      return invalid_input("The added tokens \"{}\" and \"{}\" both have id {}.",
                           tokens[i - 1].content, tokens[i].content, tokens[i].id);
    }
  }
  added.tokens_ = std::move(tokens);
  // The special one of two that are spelled alike after normalization counts, then the lower id.
  for (const bool special : {true, false}) {
    for (uint32_t i = 0; i < added.tokens_.size(); ++i) {
      const AddedToken& token = added.tokens_[i];
      if (token.special != special) continue;
      if (!token.normalized) {
        added.raw_.add(token.content, i);
      } else {
        TOK_TRY(const std::string spelling, normalizer.apply(token.content));
        added.normalized_.add(spelling, i);
      }
    }
  }
  return added;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, Stage stage,
                                                  bool parse_special,
                                                  std::span<const size_t> plain_at) const {
  const ByteTrie& trie = stage == Stage::kRawText ? raw_ : normalized_;
  std::vector<Part> parts;
  size_t done = 0;  // everything before is in a part
  for (size_t at = 0; !trie.empty() && at < text.size();) {
    const auto found = trie.longest_prefix(text.substr(at));
    if (!found) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[found->value];
    size_t begin = at;
    size_t end = at + found->bytes;
    at = end;  // also when the match is refused: the reference looks for no other one inside it
    if (token.special && !parse_special) continue;
    const auto plain = std::ranges::lower_bound(plain_at, begin);
    if (token.special && plain != plain_at.end() && *plain < end) {
      at = *plain == begin ? end : *plain;  // the template's own text may begin one within this
      continue;
    }
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end)))) {
      continue;
    }
    if (token.lstrip) begin = skip_blanks_back(text, begin, std::min(done, begin));
    if (token.rstrip) end = skip_blanks(text, end);
    if (begin > done) parts.push_back({std::nullopt, done, begin});
    parts.push_back({token.id, begin, end});
    done = end;
  }
  if (done < text.size()) parts.push_back({std::nullopt, done, text.size()});
  return parts;
}

std::vector<size_t> AddedTokens::special_places(std::string_view text, Stage stage) const {
  std::vector<size_t> places;
  size_t longest = 0;
  for (const AddedToken& token : tokens_) {
    if (token.special) longest = std::max(longest, token.content.size());
  }
  const bool is_raw = stage == Stage::kRawText;
  const ByteTrie& trie = is_raw ? raw_ : normalized_;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    bool is_place = false;
    trie.each_prefix(
        rest, [&](ByteTrie::Found found) { is_place = is_place || tokens_[found.value].special; });
    if (!is_place && is_raw && rest.size() < longest) {
      is_place = std::ranges::any_of(tokens_, [&](const AddedToken& token) {
        return token.special && token.content.starts_with(rest);
      });
    }
    if (is_place) places.push_back(at);
  }
  return places;
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const AddedToken& t) { return t.content == content; });
  return found == tokens_.end() ? nullptr : &*found;
}

const AddedToken* AddedTokens::find(uint32_t id) const {
  const auto found =
      std::lower_bound(tokens_.begin(), tokens_.end(), id,
                       [](const AddedToken& t, uint32_t value) { return t.id < value; });
  return found == tokens_.end() || found->id != id ? nullptr : &*found;
}

}  // namespace tokamak
