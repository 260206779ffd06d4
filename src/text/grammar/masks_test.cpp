#include "text/grammar/masks.h"

#include <gtest/gtest.h>

#include <set>

#include "base/splitmix.h"
#include "text/grammar/matcher.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

/// Pieces of JSON and of words, joined at random, and parts of characters.
const Tokenizer& tokenizer() {
  static const Tokenizer made = [] {
    const std::vector<std::string> parts = {"a", "b", "ab", "\\\"",   "\\\\",  ",", ":",
                                            "{", "}", "[",  "]",      "1",     "-", ".",
                                            "e", "u", "0",  "\u00c3", "\u00a9"};
    std::string vocab;
    uint32_t id = 0;
    std::set<std::string> seen;
    uint64_t random = 7;
    for (size_t i = 0; id < 700; ++i) {
      std::string token;
      const size_t count = i < parts.size() ? 1 : 1 + next_random(random) % 4;
      for (size_t k = 0; k < count; ++k) {
        token += parts[i < parts.size() ? i : next_random(random) % parts.size()];
      }
      if (!seen.insert(token).second) continue;
      vocab += fmt::format("{}\"{}\": {}", id == 0 ? "" : ", ", token, id);
      ++id;
    }
    auto read = Tokenizer::from_json(
        fmt::format("{{\"model\": {{\"type\": \"BPE\", \"merges\": [], \"vocab\": {{{}}}}}, "
                    "\"decoder\": {{\"type\": \"ByteLevel\"}}, \"added_tokens\": [{{\"id\": 700, "
                    "\"content\": \"<end>\", \"special\": true}}]}}",
                    vocab));
    EXPECT_TRUE(read) << read.error().message;
    return *std::move(read);
  }();
  return made;
}

/// Expects forced text to be what must follow, and the end of the text to go on where a longer
/// token that begins with it is taken.
void expect_exact_ends(GrammarMasks& masks, const GrammarMatcher& matcher, GrammarMatcher& alone,
                       std::string_view text) {
  std::string only;
  for (int byte = 0; byte < 256; ++byte) {
    if (alone.allows(std::string(1, char(byte)))) only += char(byte);
  }
  const bool is_forced = only.size() == 1 && !alone.may_end();
  ASSERT_EQ(matcher.forced(1), is_forced ? only : "") << text;
  const std::string run = matcher.forced(100);
  ASSERT_TRUE(alone.allows(run)) << text << run;
  for (size_t size = 1; size <= std::min<size_t>(text.size(), 3); ++size) {
    const std::string_view end = text.substr(text.size() - size);
    bool continues = false;
    for (uint32_t id = 0; id < tokenizer().vocab_size(); ++id) {
      const std::string bytes = tokenizer().bytes(id);
      continues = continues || (!tokenizer().is_special(id) && bytes.size() > size &&
                                bytes.starts_with(end) && alone.allows(bytes.substr(size)));
    }
    ASSERT_EQ(masks.continues(end, matcher.here()), continues) << text;
  }
}

/// At every step of a walk by chance the mask has the tokens that a matcher takes, and no others.
void expect_exact(std::shared_ptr<const Grammar> grammar, uint64_t random) {
  static const auto vocabulary = std::make_shared<const GrammarVocabulary>(tokenizer());
  GrammarMasks masks(grammar, vocabulary);

  for (int walk = 0; walk < 8; ++walk) {
    GrammarMatcher matcher(masks.places()), alone(*grammar);
    std::string text;
    for (int step = 0; step < 24; ++step) {
      const TokenSet& mask = masks.after(matcher.here(), step == 0);
      std::vector<uint32_t> allowed;
      for (uint32_t id = 0; id < tokenizer().vocab_size(); ++id) {
        const std::string bytes = tokenizer().bytes(id);
        const bool expected = !tokenizer().is_special(id) && alone.allows(bytes);
        ASSERT_EQ(has_token(mask, id), expected) << grammar->source() << ": " << bytes;
        if (expected) allowed.push_back(id);
      }
      expect_exact_ends(masks, matcher, alone, text);
      if (allowed.empty()) break;
      const std::string bytes = tokenizer().bytes(allowed[next_random(random) % allowed.size()]);
      matcher.push(bytes);
      alone.push(bytes);
      text += bytes;
    }
  }
}

TEST(GrammarMasks, HaveTheTokensThatAMatcherTakes) {
  uint64_t seed = 0;
  for (const std::string_view gbnf : {
           R"(root ::= ("a" | "b")* "," | "ab" "ab")",
           R"(root ::= value
              value ::= object | list | string | number
              object ::= "{" (string ":" value ("," string ":" value)*)? "}"
              list ::= "[" (value ("," value)*)? "]"
              string ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\u])* "\""
              number ::= "-"? [0-9]+ ("." [0-9]+)? ("e" "-"? [0-9]+)?)",
           R"(root ::= "[" root? "]" | "[" list
              list ::= [01] ("," list)?)",
           R"(root ::= "a" root? "b"? | "b" [\u00e0-\u00ff]{2,3})",
           R"(root ::= item{2,5}
              item ::= "\"" ("a" | "b" "\""?){1,3} ","? "\"")",
       }) {
    auto grammar = Grammar::parse(gbnf);
    ASSERT_TRUE(grammar) << grammar.error().message;
    expect_exact(std::make_shared<const Grammar>(*std::move(grammar)), ++seed);
  }
}

/// A list of strings of `least` to `most` characters, or, perhaps, "abab" among them.
std::shared_ptr<const Grammar> counted(uint32_t least, uint32_t most, bool or_constant) {
  using Kind = Grammar::State::Kind;
  std::vector<Grammar::State> states = {
      {.kind = Kind::kByte, .low = '[', .high = '[', .next = 1},
      {.kind = Kind::kCall, .next = 2, .other = 5},
      {.kind = Kind::kSplit, .next = 3, .other = 4},
      {.kind = Kind::kByte, .low = ',', .high = ',', .next = 1},
      {.kind = Kind::kByte, .low = ']', .high = ']', .next = 12},
      {.kind = Kind::kByte, .low = '"', .high = '"', .next = or_constant ? 13u : 6u},
      {.kind = Kind::kRepeat, .next = 7, .other = 8, .least = least, .most = most},
      {.kind = Kind::kByte, .low = '"', .high = '"', .next = 12},
      {.kind = Kind::kSplit, .next = 9, .other = 10},  // the character
      {.kind = Kind::kSplit, .next = 18, .other = 19},
      {.kind = Kind::kByte, .low = 0xC3, .high = 0xC3, .next = 11},
      {.kind = Kind::kByte, .low = 0x80, .high = 0xBF, .next = 12},
      {.kind = Kind::kReturn},
      {.kind = Kind::kSplit, .next = 6, .other = 14},
      {.kind = Kind::kByte, .low = 'a', .high = 'a', .next = 15},
      {.kind = Kind::kByte, .low = 'b', .high = 'b', .next = 16},
      {.kind = Kind::kByte, .low = 'a', .high = 'a', .next = 17},
      {.kind = Kind::kByte, .low = 'b', .high = 'b', .next = 7},
      {.kind = Kind::kByte, .low = ' ', .high = '!', .next = 12},
      {.kind = Kind::kSplit, .next = 20, .other = 21},
      {.kind = Kind::kByte, .low = '#', .high = '[', .next = 12},
      {.kind = Kind::kByte, .low = ']', .high = 0x7E, .next = 12},
  };
  auto grammar = std::make_shared<Grammar>(std::move(states), 0u, "counted");
  grammar->set_json_character(8);
  return grammar;
}

TEST(GrammarMasks, CountRepetitions) {
  uint64_t seed = 100;
  for (const bool or_constant : {false, true}) {
    for (const auto& [least, most] : std::initializer_list<std::pair<uint32_t, uint32_t>>{
             {0, 0}, {0, 1}, {2, 3}, {0, 40}, {30, Grammar::kNoLimit}, {0, Grammar::kNoLimit}}) {
      expect_exact(counted(least, most, or_constant), ++seed);
    }
  }
}

TEST(GrammarMasks, AreKeptForPlacesThatComeAgain) {
  auto grammar = Grammar::parse("root ::= \"[\" \"a\"* \"]\" root?");
  ASSERT_TRUE(grammar);
  GrammarMasks masks(std::make_shared<const Grammar>(*std::move(grammar)),
                     std::make_shared<const GrammarVocabulary>(tokenizer()));
  GrammarMatcher matcher(masks.places());
  matcher.push("[");
  EXPECT_EQ(masks.known_after(matcher.here(), false), nullptr);
  const TokenSet first = masks.after(matcher.here(), false);
  matcher.push("aa][a");
  const TokenSet* again = masks.known_after(matcher.here(), false);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(*again, first);
}

}  // namespace
}  // namespace tokamak
