#include "text/tokenizer/pre_tokenizer.h"

#include <algorithm>

#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/json_fields.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

bool belongs(PreTokenizer::CharClass chars, char32_t c) {
  switch (chars) {
    case PreTokenizer::CharClass::kWhitespace:
      return is_whitespace(c);
    case PreTokenizer::CharClass::kNumeric:
      return is_numeric(c);
    case PreTokenizer::CharClass::kPunctuation:
      break;
  }
  return is_punctuation(c);
}

/// Replaces every word by the pieces that `find_matches` and a cut leave of it; the text stays.
template <typename FindMatches>
Result<void> cut_words(WordList& list, SplitBehavior behavior, bool invert,
                       FindMatches find_matches) {
  std::vector<WordList::Word> words;
  std::vector<TextRange> matches, pieces;
  for (const WordList::Word& word : list.words) {
    matches.clear();
    pieces.clear();
    TOK_TRY(find_matches(list.view(word), matches));
    cut(word.range.end - word.range.begin, matches, behavior, invert, pieces);
    for (const TextRange& piece : pieces) {
      const size_t begin = word.range.begin + piece.begin;
      words.push_back(
          {{begin, word.range.begin + piece.end}, word.at_start && begin == word.range.begin});
    }
  }
  list.words = std::move(words);
  return {};
}

/// Rewrites every word: `rewrite` appends its new spelling.
template <typename Rewrite>
void rewrite_words(WordList& list, Rewrite rewrite) {
  std::string text;
  text.reserve(list.text.size() + list.text.size() / 4);
  for (WordList::Word& word : list.words) {
    const size_t begin = text.size();
    rewrite(list.view(word), word.at_start, text);
    word.range = {begin, text.size()};
  }
  list.text = std::move(text);
}

struct Apply {
  WordList& list;

  Result<void> operator()(const PreTokenizer::Split& split) const {
    return cut_words(list, split.behavior, split.invert, [&](std::string_view word, auto& matches) {
      return split.pattern.find_all(word, matches);
    });
  }

  Result<void> operator()(const PreTokenizer::SplitChars& split) const {
    const auto find_matches = [&](std::string_view word, auto& matches) -> Result<void> {
      for (size_t at = 0; at < word.size();) {
        const Utf8Char c = first_char(word.substr(at));
        if (belongs(split.chars, c.value)) matches.push_back({at, at + c.bytes});
        at += c.bytes;
      }
      return {};
    };
    return cut_words(list, split.behavior, false, find_matches);
  }

  Result<void> operator()(const PreTokenizer::ByteLevel& bytes) const {
    if (bytes.add_prefix_space) {
      rewrite_words(list, [](std::string_view word, bool, std::string& out) {
        if (!word.starts_with(' ')) out += ' ';
        out += word;
      });
    }
    if (bytes.words) {
      const auto find_matches = [&](std::string_view word, auto& matches) {
        return bytes.words->find_all(word, matches);
      };
      TOK_TRY(cut_words(list, SplitBehavior::kIsolated, false, find_matches));
    }
    rewrite_words(
        list, [](std::string_view word, bool, std::string& out) { append_byte_chars(out, word); });
    return {};
  }

  Result<void> operator()(const PreTokenizer::Metaspace& metaspace) const {
    const std::string& mark = metaspace.replacement;
    rewrite_words(list, [&](std::string_view word, bool at_start, std::string& out) {
      const bool prepend = metaspace.prepend == PreTokenizer::Prepend::kAlways ||
                           (metaspace.prepend == PreTokenizer::Prepend::kFirst && at_start);
      if (prepend && !word.starts_with(' ') && !word.starts_with(mark)) out += mark;
      for (const char c : word) {
        if (c == ' ') {
          out += mark;
        } else {
          out += c;
        }
      }
    });
    if (!metaspace.split) return {};
    const TextPattern pattern{mark};
    return cut_words(
        list, SplitBehavior::kMergedWithNext, false,
        [&](std::string_view word, auto& matches) { return pattern.find_all(word, matches); });
  }
};

Result<PreTokenizer::Split> read_split(const Json& json) {
  const Json* pattern = json.find("pattern");
  if (pattern == nullptr) return invalid_input("The member \"pattern\" is missing.");
  TOK_TRY(TextPattern compiled, TextPattern::from_json(*pattern));
  TOK_TRY(const SplitBehavior behavior, split_behavior_field(json, "behavior"));
  TOK_TRY(const bool invert, bool_field(json, "invert", false));
  return PreTokenizer::Split{std::move(compiled), behavior, invert};
}

/// Steps that are a regular expression and a behavior, under a name.
Result<PreTokenizer::Step> words_of(std::string_view regex, bool invert) {
  TOK_TRY(Regex compiled, Regex::compile(regex));
  return PreTokenizer::Split{TextPattern(std::move(compiled)), SplitBehavior::kRemoved, invert};
}

Result<PreTokenizer::Step> read_step(const Json& json, std::string_view type) {
  using CharClass = PreTokenizer::CharClass;
  if (type == "Split") return read_split(json);
  if (type == "ByteLevel") {
    TOK_TRY(const bool add_prefix_space, bool_field(json, "add_prefix_space", true));
    TOK_TRY(const bool use_regex, bool_field(json, "use_regex", true));
    PreTokenizer::ByteLevel step{add_prefix_space, std::nullopt};
    if (use_regex) {
      TOK_TRY(step.words, Regex::compile(kGpt2Words));
    }
    return step;
  }
  if (type == "Digits") {
    TOK_TRY(const bool individual, bool_field(json, "individual_digits", false));
    return PreTokenizer::SplitChars{
        CharClass::kNumeric, individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous};
  }
  if (type == "Punctuation") {
    TOK_TRY(const SplitBehavior behavior,
            split_behavior_field(json, "behavior", SplitBehavior::kIsolated));
    return PreTokenizer::SplitChars{CharClass::kPunctuation, behavior};
  }
  if (type == "Metaspace") return read_metaspace(json);
  if (type == "Whitespace") {  // its \w has the joiners, as that of the regex crate
    return words_of(R"([\w\x{200C}\x{200D}]+|[^\w\s\x{200C}\x{200D}]+)", true);
  }
  if (type == "WhitespaceSplit") {
    return PreTokenizer::SplitChars{CharClass::kWhitespace, SplitBehavior::kRemoved};
  }
  if (type == "CharDelimiterSplit") {
    TOK_TRY(const std::string delimiter, string_field(json, "delimiter"));
    if (delimiter.empty()) return invalid_input("\"delimiter\" is empty; a character is expected.");
    return PreTokenizer::Split{TextPattern(delimiter), SplitBehavior::kRemoved, false};
  }
  return unsupported("The pre-tokenizer type \"{}\" is not supported.", type);
}

}  // namespace

Result<PreTokenizer::Metaspace> read_metaspace(const Json& json) {
  PreTokenizer::Metaspace metaspace{"", PreTokenizer::Prepend::kAlways, true};
  TOK_TRY(metaspace.replacement, string_field(json, "replacement"));
  if (metaspace.replacement.empty() ||
      first_char(metaspace.replacement).bytes != metaspace.replacement.size()) {
    return invalid_input("\"replacement\" is \"{}\"; one character is expected.",
                         metaspace.replacement);
  }
  // Older files have add_prefix_space instead of, or beside, the scheme.
  TOK_TRY(const bool add_prefix_space, bool_field(json, "add_prefix_space", true));
  if (!add_prefix_space) metaspace.prepend = PreTokenizer::Prepend::kNever;
  TOK_TRY(const auto scheme, optional_string_field(json, "prepend_scheme"));
  if (scheme == "first") {
    metaspace.prepend = PreTokenizer::Prepend::kFirst;
  } else if (scheme == "never") {
    metaspace.prepend = PreTokenizer::Prepend::kNever;
  } else if (scheme && *scheme != "always") {
    return unsupported("The prepend scheme \"{}\" is not supported.", *scheme);
  }
  TOK_TRY(metaspace.split, bool_field(json, "split", true));
  return metaspace;
}

Result<void> PreTokenizer::add_steps(const Json& json, std::vector<Step>& steps) {
  TOK_TRY(const std::string type, string_field(json, "type"));
  if (type == "Sequence") {
    TOK_TRY(const Json* parts, require_field(json, "pretokenizers", Json::Kind::kArray));
    for (const Json& part : parts->as_array()) TOK_TRY(add_steps(part, steps));
    return {};
  }
  if (type == "BertPreTokenizer") {
    steps.push_back(SplitChars{CharClass::kWhitespace, SplitBehavior::kRemoved});
    steps.push_back(SplitChars{CharClass::kPunctuation, SplitBehavior::kIsolated});
    return {};
  }
  TOK_TRY(Step step, read_step(json, type));
  steps.push_back(std::move(step));
  return {};
}

Result<PreTokenizer> PreTokenizer::from_json(const Json& json) {
  PreTokenizer pre_tokenizer;
  if (!json.is_null()) TOK_TRY(add_steps(json, pre_tokenizer.steps_));
  return pre_tokenizer;
}

Result<void> PreTokenizer::apply(WordList& list) const {
  for (const Step& step : steps_) TOK_TRY(std::visit(Apply{list}, step));
  return {};
}

}  // namespace tokamak
