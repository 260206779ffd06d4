#include "generate/sample/grammar_filter.h"

#include <gtest/gtest.h>

#include "generate/sample/grammar_cache.h"
#include "text/grammar/token_bytes.h"

namespace tokamak {

using Ids = std::vector<uint32_t>;

namespace {

/// A byte-level vocabulary: single bytes of two characters, a word of three letters, an end.
const Tokenizer& tokenizer() {
  static const Tokenizer made = [] {
    auto read = Tokenizer::from_json(
        "{\"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {\"a\": 0, \"b\": 1, \"abc\": "
        "2, "
        "\"\u00c3\": 3, \"\u00a9\": 4, \"\u0120a\": 5}}, \"decoder\": {\"type\": \"ByteLevel\"}, "
        "\"added_tokens\": [{\"id\": 6, \"content\": \"<end>\", \"special\": true}, "
        "{\"id\": 7, \"content\": \"<pad>\", \"special\": true}]}");
    EXPECT_TRUE(read) << read.error().message;
    return *std::move(read);
  }();
  return made;
}

std::shared_ptr<GrammarMasks> masks(std::string_view text, const Tokenizer& own = tokenizer()) {
  auto made = Grammar::parse(text);
  EXPECT_TRUE(made) << made.error().message;
  return GrammarCache().masks(std::make_shared<const Grammar>(*std::move(made)), own);
}

constexpr uint32_t kEnd[] = {6};

std::vector<uint32_t> allowed(GrammarFilter& filter) {
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; id < 9; ++id) {
    if (filter.allows(id)) ids.push_back(id);
  }
  return ids;
}

TEST(GrammarFilter, AllowsTokensThatBeginOrContinueWithTheText) {
  const auto words = masks("root ::= (\"abc\" | \"b\" | \" \" \"a\")+");
  GrammarFilter filter(words, tokenizer(), kEnd);
  EXPECT_EQ(allowed(filter), (Ids{0, 1, 2, 5}));
  filter.push(0);
  EXPECT_EQ(allowed(filter), (Ids{1}));
  filter.push(1);
  EXPECT_EQ(allowed(filter), Ids{}) << "no token is a c";
}

/// Returns a grammar that names a special token.
Grammar token(std::string_view name) {
  std::vector<Grammar::State> states;
  for (const char byte : kSpecialMark + std::string(name)) {
    const auto next = uint32_t(states.size() + 1);
    states.push_back({.kind = Grammar::State::Kind::kByte,
                      .low = uint8_t(byte),
                      .high = uint8_t(byte),
                      .next = next});
  }
  states.push_back({.kind = Grammar::State::Kind::kReturn});
  return Grammar(std::move(states), 0, std::string(name));
}

TEST(GrammarFilter, ASpecialTokenFollowsWhereTheGrammarNamesIt) {
  const Grammar pad = token("<pad>");
  const Grammar::Named others[] = {{"pad", &pad}};
  auto made = std::make_shared<const Grammar>(*Grammar::parse(R"(root ::= "a" pad "ab")", others));
  GrammarFilter filter(GrammarCache().masks(made, tokenizer()), tokenizer(), kEnd);
  EXPECT_EQ(allowed(filter), (Ids{0}));
  filter.push(0);
  EXPECT_EQ(filter.forced(), Ids{}) << "no text of it is ever cut into tokens";
  EXPECT_EQ(allowed(filter), (Ids{7}));
  const auto bits = filter.mask(8);
  ASSERT_TRUE(bits);
  EXPECT_EQ((*bits)[0], 1u << 7);
  filter.push(7);
  EXPECT_EQ(allowed(filter), (Ids{0}));
  EXPECT_EQ(filter.forced(), (Ids{0, 1}));
}

TEST(GrammarFilter, NoTokensOfBytesSpellASpecialToken) {
  const auto own = Tokenizer::from_json(
      "{\"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {\"<\": 0, \"\u00ff\": 1}}, "
      "\"decoder\": {\"type\": \"ByteLevel\"}, "
      "\"added_tokens\": [{\"id\": 2, \"content\": \"<pad>\", \"special\": true}]}");
  ASSERT_TRUE(own) << own.error().message;
  ASSERT_EQ(own->bytes(1), std::string(1, kSpecialMark));
  const auto pad = std::make_shared<const Grammar>(token("<pad>"));
  GrammarFilter filter(GrammarCache().masks(pad, *own), *own, kEnd);
  EXPECT_EQ(allowed(filter), (Ids{2}));
  const auto bits = filter.mask(3);
  ASSERT_TRUE(bits);
  EXPECT_EQ((*bits)[0], 1u << 2);
}

TEST(GrammarFilter, EndsTheTextWhereTheGrammarDoes) {
  const auto one = masks("root ::= \"a\"");
  GrammarFilter filter(one, tokenizer(), kEnd);
  EXPECT_FALSE(filter.allows(6));
  filter.push(0);
  EXPECT_EQ(allowed(filter), (Ids{6})) << "the end, but no other special token";
  EXPECT_TRUE(filter.is_finished());
  filter.push(6);
  const auto many = masks("root ::= \"a\"+");
  GrammarFilter open(many, tokenizer(), kEnd);
  open.push(0);
  EXPECT_EQ(allowed(open), (Ids{0, 6}));
  EXPECT_FALSE(open.is_finished());
}

TEST(GrammarFilter, FollowsCharactersThatAreCutBetweenTokens) {
  const auto accents = masks("root ::= [\\u00e0-\\u00ff] \"b\"");
  GrammarFilter filter(accents, tokenizer(), kEnd);
  EXPECT_EQ(allowed(filter), (Ids{3}));
  filter.push(3);
  EXPECT_EQ(allowed(filter), (Ids{4}));
  filter.push(4);
  EXPECT_EQ(allowed(filter), (Ids{1}));
}

TEST(GrammarFilter, RemovesLogitsOfWhatMayNotFollow) {
  const auto grammar_of_b = masks("root ::= \"b\" \"a\"");
  GrammarFilter filter(grammar_of_b, tokenizer(), kEnd);
  const std::vector<float> logits = {9, 1, 8, 7, 6, 5, 4, 3, 2};
  for (const uint32_t next : {1u, 0u}) {
    const auto left = filter.allowed(logits);
    ASSERT_TRUE(left) << left.error().message;
    for (uint32_t id = 0; id < logits.size(); ++id) {
      EXPECT_EQ((*left)[id], id == next ? logits[id] : -std::numeric_limits<float>::infinity());
    }
    filter.push(next);
  }
}

TEST(GrammarFilter, HasAMaskOfWhatMayFollowAndOfTheEnd) {
  const auto words = masks("root ::= \"b\"+");
  GrammarFilter filter(words, tokenizer(), kEnd);
  const auto first = filter.mask(40);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(std::vector(first->begin(), first->end()), (Ids{1u << 1, 0}));
  EXPECT_FALSE(filter.has_mask()) << "none is kept for a text that begins";
  filter.push(1);
  EXPECT_FALSE(filter.has_mask());
  const auto second = filter.mask(7);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(std::vector(second->begin(), second->end()), (Ids{1u << 1 | 1u << 6}));
  EXPECT_TRUE(filter.has_mask());
  const auto without_end = filter.mask(6);
  ASSERT_TRUE(without_end) << without_end.error().message;
  EXPECT_EQ(std::vector(without_end->begin(), without_end->end()), (Ids{1u << 1}));
}

/// Bytes and what is merged of them: " a", "ab", "abc".
const Tokenizer& merging() {
  static const Tokenizer made = [] {
    auto read = Tokenizer::from_json(
        "{\"model\": {\"type\": \"BPE\", \"merges\": [\"\u0120 a\", \"a b\", \"ab c\"], \"vocab\": "
        "{\"a\": 0, \"b\": 1, \"c\": 2, \"\u00c3\": 3, \"\u00a9\": 4, \"\u0120\": 5, \"\u0120a\": "
        "6, \"ab\": 7, \"abc\": 8}}, \"decoder\": {\"type\": \"ByteLevel\"}, \"pre_tokenizer\": "
        "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": true}}");
    EXPECT_TRUE(read) << read.error().message;
    return *std::move(read);
  }();
  return made;
}

TEST(GrammarFilter, ForcesWhatTheGrammarLeavesNoChoiceFor) {
  const auto choice = masks("root ::= \"a\" | \"b\"", merging());
  EXPECT_EQ(GrammarFilter(choice, merging(), {}).forced(), Ids{});
  const auto text = masks("root ::= \"ab\\u00e9 a\" [ab] \"bb\"", merging());
  GrammarFilter filter(text, merging(), {});
  const Ids begin = filter.forced();
  EXPECT_EQ(begin, (Ids{7, 3, 4, 6}));
  for (const uint32_t id : begin) filter.push(id);
  EXPECT_EQ(filter.forced(), Ids{}) << "a or b";
  filter.push(1);
  EXPECT_EQ(filter.forced(), (Ids{1, 1}));
  filter.push(1);
  filter.push(1);
  EXPECT_TRUE(filter.is_finished());
  EXPECT_EQ(filter.forced(), Ids{});
}

TEST(GrammarFilter, LeavesAnOpenEndToALongerToken) {
  const auto open = masks("root ::= \"bab\" [ac]", merging());
  EXPECT_EQ(GrammarFilter(open, merging(), {}).forced(), (Ids{1})) << "then ab and a, or abc";
  const auto closed = masks("root ::= \"bab\" [ab]", merging());
  EXPECT_EQ(GrammarFilter(closed, merging(), {}).forced(), (Ids{1, 7}));
  const auto ends = masks("root ::= \"bab\" \"c\"?", merging());
  EXPECT_EQ(GrammarFilter(ends, merging(), {}).forced(), (Ids{1}));
}

TEST(GrammarFilter, ForcesNothingWhereATokenWouldReachIntoTheTextBefore) {
  const auto text = masks("root ::= \"a\"? \"b\" \"c\"", merging());
  GrammarFilter filter(text, merging(), {});
  filter.push(0);
  EXPECT_EQ(filter.forced(), Ids{}) << "ab would be one token";
  filter.push(1);
  EXPECT_EQ(filter.forced(), Ids{}) << "so would abc";
  GrammarFilter other(text, merging(), {});
  other.push(1);
  EXPECT_EQ(other.forced(), (Ids{2}));
}

TEST(GrammarFilter, ReportsThatNothingCanFollow) {
  const auto unknown = masks("root ::= \"x\"");
  const std::vector<float> logits(9);
  GrammarFilter filter(unknown, tokenizer(), kEnd);
  const auto none = filter.allowed(logits);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "No token of the vocabulary goes on with the text so far as the grammar says.");
  const auto wide = masks("root ::= \"b\" ((\"a\"?){1000}){6}");
  GrammarFilter too_wide(wide, tokenizer(), kEnd);
  ASSERT_TRUE(too_wide.allows(1));
  too_wide.push(1);
  EXPECT_FALSE(too_wide.is_sure()) << "lists must not count either";
  const auto refused = too_wide.allowed(logits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.substr(0, 56),
            "The grammar has more than 4096 ways to go on after the t");
}

TEST(GrammarFilter, FollowsAGrammarAgainThatAnotherTextHasMadeTooWide) {
  auto made = Grammar::parse("root ::= \"a\" | \"b\" ((\"a\"?){1000}){6}");
  ASSERT_TRUE(made) << made.error().message;
  const auto grammar = std::make_shared<const Grammar>(*std::move(made));
  GrammarCache cache;
  GrammarFilter wide(cache.masks(grammar, tokenizer()), tokenizer(), kEnd);
  ASSERT_TRUE(wide.allows(1));
  wide.push(1);
  EXPECT_FALSE(wide.is_sure());
  GrammarFilter other(cache.masks(grammar, tokenizer()), tokenizer(), kEnd);
  EXPECT_TRUE(other.is_sure());
  EXPECT_TRUE(other.allows(0));
}

TEST(GrammarFilter, RecognizesThatABeginningIsWrittenOtherwise) {
  // A tokenizer as Llama 2's: words begin with a blank, which a text does not begin with.
  const auto metaspace = Tokenizer::from_json(
      "{\"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {\"\u2581a\": 0, \"<0xC3>\": 1, "
      "\"<0xA9>\": 2}}, \"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": "
      "\"Replace\", \"pattern\": {\"String\": \"\u2581\"}, \"content\": \" \"}, {\"type\": "
      "\"ByteFallback\"}, {\"type\": \"Fuse\"}, {\"type\": \"Strip\", \"content\": \" \", "
      "\"start\": 1, \"stop\": 0}]}}");
  ASSERT_TRUE(metaspace) << metaspace.error().message;
  const auto words = masks("root ::= \"a\" \" a\" \"\u00e9\"", *metaspace);
  GrammarFilter filter(words, *metaspace, {});
  for (const uint32_t id : {0u, 0u, 1u, 2u}) {
    ASSERT_TRUE(filter.allows(id)) << id;
    filter.push(id);
  }
  EXPECT_TRUE(filter.is_finished());
}

}  // namespace
}  // namespace tokamak
