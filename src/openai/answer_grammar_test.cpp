#include "openai/answer_grammar.h"

#include <gtest/gtest.h>

namespace tokamak::openai {
namespace {

Fields choice_of(std::string word) {
  Fields fields;
  fields.json_schema = Json::Object{};
  fields.json_schema.set("enum", Json::Array{Json(std::move(word))});
  return fields;
}

std::shared_ptr<const Grammar> made(AnswerGrammars& grammars, const Fields& fields,
                                    const OutputForm& form = {}, std::string_view tenant = {}) {
  const auto grammar = grammars.of(fields, form, tenant);
  EXPECT_TRUE(grammar) << grammar.error().message;
  return grammar ? grammar->grammar : nullptr;
}

TEST(AnswerGrammars, KeepThoseThatAreAskedForAgain) {
  AnswerGrammars grammars;
  const auto first = made(grammars, choice_of("a"));
  ASSERT_NE(first, nullptr);
  for (int i = 0; i < 100; ++i) {
    made(grammars, choice_of(std::to_string(i)));
    ASSERT_EQ(made(grammars, choice_of("a")), first) << "used in between";
  }
  const auto last = made(grammars, choice_of("99"));
  EXPECT_EQ(made(grammars, choice_of("99")), last);
  const std::weak_ptr<const Grammar> dropped = made(grammars, choice_of("b"));
  for (int i = 0; i < 64; ++i) made(grammars, choice_of(std::to_string(i)));
  EXPECT_TRUE(dropped.expired()) << "the one that was not used for longest goes";
}

TEST(AnswerGrammars, DependOnEverythingThatHoldsTheAnswer) {
  AnswerGrammars grammars;
  const auto plain = made(grammars, choice_of("a"));
  OutputForm reasoning;
  reasoning.reasoning_close = "</think>";
  reasoning.starts_in_reasoning = true;
  EXPECT_NE(made(grammars, choice_of("a"), reasoning), plain);
  Fields regex;
  regex.regex = "a";
  Fields gbnf;
  gbnf.grammar = "root ::= \"a\"";
  EXPECT_NE(made(grammars, regex), made(grammars, gbnf));
  EXPECT_EQ(made(grammars, Fields()), nullptr);
}

TEST(AnswerGrammars, OfOneTenantAreNotAtHandForAnother) {
  AnswerGrammars grammars;
  const auto first = made(grammars, choice_of("a"), {}, "one");
  EXPECT_NE(made(grammars, choice_of("a"), {}, "two"), first);
  EXPECT_EQ(made(grammars, choice_of("a"), {}, "one"), first);
}

TEST(AnswerGrammars, DoNotKeepLargeSchemas) {
  AnswerGrammars grammars;
  const std::weak_ptr<const Grammar> large =
      made(grammars, choice_of(std::string(size_t{70} << 10, 'a')));
  EXPECT_TRUE(large.expired());
}

}  // namespace
}  // namespace tokamak::openai
