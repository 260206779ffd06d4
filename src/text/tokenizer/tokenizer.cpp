#include "text/tokenizer/tokenizer.h"

#include <algorithm>

#include "text/tokenizer/gguf_vocab.h"
#include "text/tokenizer/tokenizer_parts.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

/// One text on its way through the steps.
struct Encoding {
  const TokenizerParts& parts;
  bool parse_special;
  std::span<const size_t> plain_at;
  WordCache cache;
  std::vector<uint32_t> ids;

  /// `text` is valid UTF-8.
  Result<void> add(std::string_view text) {
    for (const auto& part :
         parts.added.split(text, AddedTokens::Stage::kRawText, parse_special, plain_at)) {
      if (part.id) {
        ids.push_back(*part.id);
        continue;
      }
      // The places in the normalized text are not known: all of it is plain.
      const auto plain = std::ranges::lower_bound(plain_at, part.begin);
      const bool has_places = plain != plain_at.end() && *plain < part.end;
      TOK_TRY(add_plain(text.substr(part.begin, part.end - part.begin), part.begin == 0,
                        parse_special && !has_places));
    }
    return {};
  }

  Result<void> add_plain(std::string_view text, bool at_start, bool parses) {
    TOK_TRY(const std::string normalized, parts.normalizer.apply(std::string(text)));
    for (const auto& part :
         parts.added.split(normalized, AddedTokens::Stage::kNormalizedText, parses)) {
      if (part.id) {
        ids.push_back(*part.id);
        continue;
      }
      WordList list;
      list.text = normalized.substr(part.begin, part.end - part.begin);
      list.words.push_back({{0, list.text.size()}, at_start && part.begin == 0});
      TOK_TRY(parts.pre_tokenizer.apply(list));
      for (const WordList::Word& word : list.words) {
        if (word.range.begin < word.range.end) parts.model->encode(list.view(word), cache, ids);
      }
    }
    return {};
  }
};

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::from_files(const TokenizerFiles& files) {
  TOK_TRY(TokenizerParts parts, read_tokenizer_parts(files));
  return Tokenizer(std::make_unique<const TokenizerParts>(std::move(parts)));
}

Result<Tokenizer> Tokenizer::from_gguf(const GgufVocab& vocab) {
  TOK_TRY(TokenizerParts parts, read_gguf_parts(vocab));
  return Tokenizer(std::make_unique<const TokenizerParts>(std::move(parts)));
}

Result<std::vector<uint32_t>> Tokenizer::encode(std::string_view text,
                                                EncodeOptions options) const {
  if (text.size() > kMaxTextBytes) {
    return invalid_input("The text has {} bytes; at most {} are encoded at once.", text.size(),
                         kMaxTextBytes);
  }
  std::string repaired;
  if (!is_valid_utf8(text)) {
    repaired = repair_utf8(text);
    text = repaired;
  }
  const bool parse_special = options.parse_special.value_or(!parts_->split_special);
  Encoding encoding{*parts_, parse_special, options.plain_at, WordCache(text.size()), {}};
  const PostProcessor& post = parts_->post_processor;
  if (options.add_special) encoding.ids = post.before();
  TOK_TRY(encoding.add(text));
  if (options.add_special) {
    encoding.ids.insert(encoding.ids.end(), post.after().begin(), post.after().end());
  }
  return std::move(encoding.ids);
}

Result<PairEncoding> Tokenizer::encode_pair(std::string_view first, std::string_view second,
                                            size_t room) const {
  const EncodeOptions plain{.add_special = false, .parse_special = false};
  TOK_TRY(const std::vector<uint32_t> a, encode(first, plain));
  TOK_TRY(std::vector<uint32_t> b, encode(second, plain));
  const auto& template_of_two = parts_->post_processor.pair();
  if (!template_of_two) {
    return unsupported("The tokenizer's post_processor does not say how two texts go together.");
  }
  const std::vector<PostProcessor::PairPart>& parts = *template_of_two;
  size_t all = a.size() + b.size();
  for (const auto& part : parts) all += part.ids.size();
  if (all > room) b.resize(b.size() - std::min(b.size(), all - room));
  PairEncoding pair;
  for (const auto& part : parts) {
    const std::vector<uint32_t>& ids = part.text == 0 ? part.ids : part.text == 1 ? a : b;
    pair.ids.insert(pair.ids.end(), ids.begin(), ids.end());
    pair.types.resize(pair.ids.size(), part.type);
  }
  return pair;
}

std::vector<size_t> Tokenizer::special_places(std::string_view text) const {
  std::vector<size_t> places = parts_->added.special_places(text, AddedTokens::Stage::kRawText);
  if (!places.empty() || text.empty()) return places;
  const auto normalized = parts_->normalizer.apply(std::string(text));
  const bool spells_one =
      !normalized ||
      !parts_->added.special_places(*normalized, AddedTokens::Stage::kNormalizedText).empty();
  if (spells_one) places.push_back(0);
  return places;
}

std::string Tokenizer::decode(std::span<const uint32_t> ids, bool skip_special) const {
  std::string text;
  const TokenSinkPtr sink = parts_->decoder.open(text);
  for (const uint32_t id : ids) {
    const auto token = this->token(id);
    if (token && !(skip_special && is_special(id))) sink->piece(*token, true);
  }
  sink->finish();
  return text;
}

uint32_t Tokenizer::vocab_size() const {
  const auto& added = parts_->added.tokens();
  return std::max(parts_->model->vocabulary().size(), added.empty() ? 0 : added.back().id + 1);
}

std::optional<uint32_t> Tokenizer::token_to_id(std::string_view token) const {
  if (const AddedToken* added = parts_->added.find(token)) return added->id;
  return parts_->model->vocabulary().find(token);
}

std::optional<std::string_view> Tokenizer::token(uint32_t id) const {
  if (const AddedToken* added = parts_->added.find(id)) return added->content;
  const Vocabulary& vocabulary = parts_->model->vocabulary();
  if (!vocabulary.has(id)) return std::nullopt;
  return vocabulary.token(id);
}

std::string Tokenizer::bytes(uint32_t id, bool begins) const {
  const auto token = this->token(id);
  return token ? parts_->decoder.bytes_of(*token, begins) : "";
}

bool Tokenizer::is_special(uint32_t id) const {
  const AddedToken* added = parts_->added.find(id);
  return added != nullptr && added->special;
}

std::optional<std::string_view> Tokenizer::role_token(std::string_view role) const {
  const auto found = std::find_if(parts_->roles.begin(), parts_->roles.end(),
                                  [&](const auto& entry) { return entry.first == role; });
  if (found == parts_->roles.end()) return std::nullopt;
  return found->second;
}

std::optional<uint32_t> Tokenizer::role_id(std::string_view role) const {
  const auto token = role_token(role);
  return token ? token_to_id(*token) : std::nullopt;
}

struct StreamDecoder::State {
  const Tokenizer& tokenizer;
  bool skip_special;
  std::string text;
  TokenSinkPtr sink;
};

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : state_(std::make_unique<State>(State{tokenizer, skip_special, {}, nullptr})) {
  state_->sink = tokenizer.parts_->decoder.open(state_->text);
}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::push(uint32_t id) {
  const auto token = state_->tokenizer.token(id);
  if (token && !(state_->skip_special && state_->tokenizer.is_special(id))) {
    state_->sink->piece(*token, true);
  }
  return std::exchange(state_->text, {});
}

std::string StreamDecoder::finish() {
  state_->sink->finish();
  return std::exchange(state_->text, {});
}

}  // namespace tokamak
