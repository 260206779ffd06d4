#include "text/tokenizer/model_tables.h"

#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

/// The place of a value in the text.
struct Range {
  size_t begin = 0, end = 0;
};

/// Walks through a text that is taken for JSON. What it skips is not checked: the text without the
/// tables is parsed as a whole afterwards, and only if that is JSON was the walk right.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  size_t position() const { return at_; }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }

  /// A string; those with a backslash are kept in `unescaped`.
  std::optional<std::string_view> string(std::deque<std::string>& unescaped) {
    const size_t quote = at_;
    if (!take('"')) return std::nullopt;
    const size_t begin = at_;
    bool ascii = true;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') {
      if (uint8_t(text_[at_]) < 0x20) return std::nullopt;
      ascii = ascii && uint8_t(text_[at_]) < 0x80;
      ++at_;
    }
    if (at_ >= text_.size()) return std::nullopt;
    const std::string_view plain = text_.substr(begin, at_ - begin);
    if (text_[at_] == '"') {
      ++at_;
      if (!ascii && !is_valid_utf8(plain)) return std::nullopt;
      return plain;
    }
    at_ = quote;
    if (!skip_string()) return std::nullopt;
    auto parsed = Json::parse(text_.substr(quote, at_ - quote));
    if (!parsed) return std::nullopt;
    return unescaped.emplace_back(parsed->as_string());
  }

  /// Up to nine digits, as JSON spells them.
  std::optional<uint32_t> integer() {
    skip_blanks();
    uint32_t value = 0;
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (at_ - begin == 9) return std::nullopt;
      value = value * 10 + uint32_t(text_[at_] - '0');
    }
    if (at_ == begin || (at_ - begin > 1 && text_[begin] == '0')) return std::nullopt;
    return value;
  }

  bool skip_value() {
    skip_blanks();
    uint32_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
        return true;  // the end of a number or a name
      } else {
        if (c == '}' || c == ']') --depth;
        ++at_;
      }
      if (depth == 0 && (c == '"' || c == '}' || c == ']')) return true;
    }
    return false;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

  bool skip_string() {
    if (!take('"')) return false;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\') ++at_;
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// Calls `item` for every member or element up to `close`; false when it does, or at a mistake.
template <typename Item>
bool each(Walker& walker, char open, char close, Item item) {
  if (!walker.take(open)) return false;
  if (walker.take(close)) return true;
  do {
    if (!item()) return false;
  } while (walker.take(','));
  return walker.take(close);
}

bool read_vocab(Walker& walker, ModelTables& tables) {
  return each(walker, '{', '}', [&] {
    const auto token = walker.string(tables.unescaped);
    if (!token || !walker.take(':')) return false;
    const auto id = walker.integer();
    if (id) tables.vocab.push_back({*token, *id});
    return id.has_value();
  });
}

bool read_string_merge(Walker& walker, ModelTables& tables) {
  const auto text = walker.string(tables.unescaped);
  if (!text || text->starts_with("#version")) return false;
  const size_t space = text->find(' ');
  if (space == text->npos || text->find(' ', space + 1) != text->npos) return false;
  tables.merges.push_back({text->substr(0, space), text->substr(space + 1)});
  return true;
}

bool read_pair_merge(Walker& walker, ModelTables& tables) {
  if (!walker.take('[')) return false;
  const auto left = walker.string(tables.unescaped);
  if (!left || !walker.take(',')) return false;
  const auto right = walker.string(tables.unescaped);
  if (!right) return false;
  tables.merges.push_back({*left, *right});
  return walker.take(']');
}

bool read_merges(Walker& walker, ModelTables& tables) {
  Walker first = walker;
  tables.merges_are_strings = first.take('[') && first.next_is('"');
  return each(walker, '[', ']', [&] {
    return tables.merges_are_strings ? read_string_merge(walker, tables)
                                     : read_pair_merge(walker, tables);
  });
}

/// The places of the tables in the text, when there is one of each.
struct Places {
  Range vocab, merges;
};

bool read_model(Walker& walker, ModelTables& tables, Places& places) {
  return each(walker, '{', '}', [&] {
    const auto name = walker.string(tables.unescaped);
    if (!name || !walker.take(':')) return false;
    Range* place = name == "vocab" ? &places.vocab : name == "merges" ? &places.merges : nullptr;
    if (place == nullptr) return walker.skip_value();
    if (place->end != 0) return false;
    walker.skip_blanks();
    place->begin = walker.position();
    if (!(name == "vocab" ? read_vocab(walker, tables) : read_merges(walker, tables))) return false;
    place->end = walker.position();
    return true;
  });
}

bool read_document(Walker& walker, ModelTables& tables, Places& places) {
  return each(walker, '{', '}', [&] {
    const auto name = walker.string(tables.unescaped);
    if (!name || !walker.take(':')) return false;
    if (name != "model") return walker.skip_value();
    return places.vocab.end == 0 && places.merges.end == 0 && read_model(walker, tables, places);
  });
}

}  // namespace

std::optional<TokenizerDocument> split_model_tables(std::string_view tokenizer_json) {
  TokenizerDocument document;
  Walker walker(tokenizer_json);
  Places places;
  // A file has some hundred bytes for a token and its merges.
  document.tables.vocab.reserve(tokenizer_json.size() / 128);
  document.tables.merges.reserve(tokenizer_json.size() / 64);
  if (!read_document(walker, document.tables, places)) return std::nullopt;
  if (places.vocab.end == 0 || places.merges.end == 0) return std::nullopt;
  Range first = places.vocab, second = places.merges;
  if (first.begin > second.begin) std::swap(first, second);
  std::string rest(tokenizer_json.substr(0, first.begin));
  rest += "null";
  rest += tokenizer_json.substr(first.end, second.begin - first.end);
  rest += "null";
  rest += tokenizer_json.substr(second.end);
  auto parsed = Json::parse(rest);
  if (!parsed) return std::nullopt;
  document.rest = *std::move(parsed);
  const Json* model = document.rest.find("model");
  if (model == nullptr || !model->is_object()) return std::nullopt;
  const Json* type = model->find("type");
  if (type != nullptr && (!type->is_string() || type->as_string() != "BPE")) return std::nullopt;
  return document;
}

}  // namespace tokamak
