#include "protocol/answers/logprob_shapes.h"

#include "protocol/service/exchange_fixture_test.h"

namespace tokamak::protocol {
namespace {

std::vector<uint64_t> offsets_of(std::span<const uint32_t> ids, std::string_view text) {
  return prompt_offsets(tokenizer(), ids, text);
}

/// Ids of a text, in which special tokens are read.
std::vector<uint32_t> ids_of(std::string_view text, bool add_special = false) {
  return *tokenizer().encode(text, {.add_special = add_special, .parse_special = true});
}

uint32_t special_id() {
  for (uint32_t id = 0; id < tokenizer().vocab_size(); ++id) {
    if (tokenizer().is_special(id)) return id;
  }
  return 0;
}

TEST(LogprobShapes, OffsetsCountTheSpecialTokensThatTheTextSpells) {
  const uint32_t special = special_id();
  const std::string name = tokenizer().bytes(special);
  ASSERT_FALSE(name.empty());
  std::vector<uint32_t> ids = {special};
  const std::vector<uint32_t> rest = ids_of("Once upon");
  ids.insert(ids.end(), rest.begin(), rest.end());
  const std::vector<uint64_t> shown = offsets_of(ids, name + "Once upon");
  EXPECT_EQ(shown[0], 0u);
  EXPECT_EQ(shown[1], name.size());
  const std::vector<uint64_t> added = offsets_of(ids, "Once upon");
  EXPECT_EQ(added[1], 0u) << "it was put in front of the text";
  EXPECT_EQ(added.back() + name.size(), shown.back());
}

TEST(LogprobShapes, OffsetsAreThoseOfCharacters) {
  const std::string text = "é€ x";
  const std::vector<uint32_t> ids = ids_of(text);
  const std::vector<uint64_t> offsets = offsets_of(ids, text);
  std::string before;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string bytes = tokenizer().bytes(ids[i], i == 0);
    // A token that goes on with a character begins in it.
    const bool continues = (uint8_t(bytes[0]) & 0xC0) == 0x80;
    EXPECT_EQ(offsets[i], count_characters(before) - continues) << i;
    before += bytes;
  }
  EXPECT_EQ(before, text);
}

TEST(LogprobShapes, ATokenThatNoTextShowsHasNoBytes) {
  const uint32_t plain = ids_of("a").back();
  const std::vector<CompletionToken> tokens = {
      {.logprobs = {.chosen = {special_id(), -1}, .top = {{plain, -2}, {special_id(), -1}}}}};
  const Json shown = *chat_logprobs(tokenizer(), tokens).find("content");
  const Json& one = shown.as_array()[0];
  EXPECT_TRUE(one.find("bytes")->is_null());
  const Json::Array& top = one.find("top_logprobs")->as_array();
  EXPECT_TRUE(top[0].find("bytes")->is_array());
  EXPECT_TRUE(top[1].find("bytes")->is_null());
}

}  // namespace
}  // namespace tokamak::protocol
