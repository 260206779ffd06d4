// schema_tool [TOKENIZER_JSON]: what JSON schemas become, for the Python tests beside it. Each line
// of the standard input is a JSON object, and is answered by another one:
//
//   {"schema": TEXT, "texts": [TEXT, ...]}  whether each text is one of the schema's: {"taken":
//   [...]}
//   {"schema": TEXT, "walks": N, "seed": N, "tokens": N}  texts by chance, token by token under the
//                                            masks, with the token at which some had no end yet
//
// Both have "compile_us", or "error" and nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/splitmix.h"
#include "text/grammar/masks.h"
#include "text/grammar/matcher.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

bool takes(const Grammar& grammar, std::string_view text) {
  GrammarMatcher matcher(grammar);
  if (!matcher.allows(text)) return false;
  matcher.push(text);
  return matcher.may_end();
}

/// The data that walks need of a tokenizer, once.
struct Vocabulary {
  explicit Vocabulary(Tokenizer own)
      : tokenizer(std::move(own)), tokens(std::make_shared<const GrammarVocabulary>(tokenizer)) {
    const std::string_view closing[] = {"}", "]", "\""};
    for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      ranks.push_back(uint8_t(std::ranges::find(closing, tokenizer.bytes(id)) - closing));
    }
  }

  Tokenizer tokenizer;
  std::shared_ptr<const GrammarVocabulary> tokens;
  /// By id: how soon a token is taken where a text shall come to its end; kNoEnd: by chance.
  std::vector<uint8_t> ranks;
  static constexpr uint8_t kNoEnd = 3;
};

/// A text by chance. Beyond `budget` tokens closing brackets and quotes are taken where they may
/// be.
Json walk(GrammarMasks& masks, const Vocabulary& vocabulary, uint64_t& random, uint64_t budget) {
  const Tokenizer& tokenizer = vocabulary.tokenizer;
  GrammarMatcher matcher(masks.places());
  std::string text;
  for (uint64_t step = 0;; ++step) {
    const TokenSet& mask = masks.after(matcher.here(), step == 0);
    std::vector<uint32_t> allowed;
    for (uint32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      if (has_token(mask, id)) allowed.push_back(id);
    }
    const bool may_end = matcher.may_end();
    if (may_end && (allowed.empty() || step >= budget || next_random(random) % 4 == 0)) {
      Json done;
      done.set("text", text);
      return done;
    }
    if (allowed.empty() || step > 4 * budget + 64) {
      Json stuck;
      stuck.set("text", text).set(allowed.empty() ? "stuck" : "long", true);
      return stuck;
    }
    uint32_t id = allowed[next_random(random) % allowed.size()];
    if (step >= budget) {
      const auto rank = [&](uint32_t one) { return vocabulary.ranks[one]; };
      const uint32_t best = *std::ranges::min_element(allowed, {}, rank);
      if (rank(best) < Vocabulary::kNoEnd) id = best;
    }
    const std::string bytes = tokenizer.bytes(id, step == 0);
    matcher.push(bytes);
    text += bytes;
  }
}

Json answer(const Json& asked, const std::optional<Vocabulary>& vocabulary) {
  Json out;
  const auto start = std::chrono::steady_clock::now();
  auto grammar = Grammar::from_json_schema(asked.find("schema")->as_string());
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  if (!grammar) return out.set("error", grammar.error().message);
  out.set("compile_us", time.count()).set("states", uint64_t(grammar->states().size()));
  if (const Json* texts = asked.find("texts")) {
    Json::Array taken;
    for (const Json& text : texts->as_array()) taken.push_back(takes(*grammar, text.as_string()));
    out.set("taken", std::move(taken));
  }
  if (const Json* walks = asked.find("walks"); walks != nullptr && vocabulary) {
    GrammarMasks masks(std::make_shared<const Grammar>(*std::move(grammar)), vocabulary->tokens);
    auto random = uint64_t(asked.find("seed")->as_integer());
    Json::Array made;
    for (int64_t i = 0; i < walks->as_integer(); ++i) {
      made.push_back(
          walk(masks, *vocabulary, random, uint64_t(asked.find("tokens")->as_integer())));
    }
    out.set("walks", std::move(made));
  }
  return out;
}

int run(int argc, char** argv) {
  std::optional<Vocabulary> vocabulary;
  if (argc > 1) {
    std::ifstream file(argv[1], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    auto read = Tokenizer::from_json(text);
    if (!read) {
      fmt::print(stderr, "error: {}\n", read.error().message);
      return 3;
    }
    vocabulary.emplace(*std::move(read));
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto asked = Json::parse(line);
    if (!asked) {
      fmt::print(stderr, "error: {}\n", asked.error().message);
      return 3;
    }
    fmt::print("{}\n", answer(*asked, vocabulary).dump());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace tokamak

int main(int argc, char** argv) {
  return tokamak::run(argc, argv);
}
