// bench_grammars TOKENIZER_JSON SCHEMAS.jsonl [...]: how long masks of tokens take along instances
// of JSON schemas, as one line of JSON. A line of the files has "schema" and "tests", a list of
// objects with "valid" and "data"; valid data is written as Python writes it and tokenized, and
// every token's mask is made as if nobody had asked before, but for the same schema.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/grammar/masks.h"
#include "text/grammar/matcher.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

std::string text_of(const Json& value) {
  std::string text;
  if (value.is_array()) {
    for (const Json& one : value.as_array()) text += (text.empty() ? "" : ", ") + text_of(one);
    return "[" + text + "]";
  }
  if (!value.is_object()) return value.dump();
  for (const auto& [name, member] : value.as_object()) {
    text += (text.empty() ? "" : ", ") + Json(name).dump() + ": " + text_of(member);
  }
  return "{" + text + "}";
}

std::string shares(std::vector<double> times) {
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return times[std::min(times.size() - 1, size_t(double(times.size()) * share))];
  };
  return fmt::format(
      R"({{"count": {}, "p50": {:.1f}, "p90": {:.1f}, "p99": {:.1f}, "p99.9": {:.1f}, "most": {:.1f}}})",
      times.size(), at(0.5), at(0.9), at(0.99), at(0.999), times.back());
}

int run(int argc, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto tokenizer = Tokenizer::from_json(text);
  if (!tokenizer) {
    fmt::print(stderr, "error: {}\n", tokenizer.error().message);
    return 3;
  }
  auto start = std::chrono::steady_clock::now();
  const auto vocabulary = std::make_shared<const GrammarVocabulary>(*tokenizer);
  const double vocabulary_us = microseconds_since(start);
  std::vector<double> masks_us, pushes_us, compiles_us;
  for (int i = 2; i < argc; ++i) {
    std::ifstream lines(argv[i]);
    for (std::string line; std::getline(lines, line);) {
      const auto asked = Json::parse(line);
      if (!asked) continue;
      start = std::chrono::steady_clock::now();
      auto grammar = Grammar::from_json_schema(asked->find("schema")->dump());
      compiles_us.push_back(microseconds_since(start));
      if (!grammar) continue;
      GrammarMasks masks(std::make_shared<const Grammar>(*std::move(grammar)), vocabulary);
      for (const Json& test : asked->find("tests")->as_array()) {
        if (!test.find("valid")->as_bool()) continue;
        const auto ids = tokenizer->encode(text_of(*test.find("data")), {.add_special = false});
        if (!ids) continue;
        GrammarMatcher matcher(masks.places());
        bool begins = true;
        for (const uint32_t id : *ids) {
          start = std::chrono::steady_clock::now();
          const TokenSet& mask = masks.after(matcher.here(), begins);
          masks_us.push_back(microseconds_since(start));
          if (!has_token(mask, id)) break;
          start = std::chrono::steady_clock::now();
          matcher.push(tokenizer->bytes(id, begins));
          pushes_us.push_back(microseconds_since(start));
          begins = false;
        }
      }
    }
  }
  if (masks_us.empty()) return 3;
  fmt::print(
      "{{\"vocabulary\": {}, \"vocabulary_us\": {:.0f}, \"mask_us\": {}, \"push_us\": {}, "
      "\"compile_us\": {}}}\n",
      vocabulary->size(), vocabulary_us, shares(masks_us), shares(pushes_us), shares(compiles_us));
  return 0;
}

}  // namespace
}  // namespace tokamak

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_grammars TOKENIZER_JSON SCHEMAS.jsonl [...]\n");
    return 2;
  }
  return tokamak::run(argc, argv);
}
