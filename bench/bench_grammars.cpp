// bench_grammars TOKENIZER_JSON SCHEMAS.jsonl [...]: how long masks of tokens take along instances
// of JSON schemas, as one line of JSON. A line of the files has "schema" and "tests", a list of
// objects with "valid" and "data"; valid data is written as Python writes it and tokenized, and
// every token's mask is made as if nobody had asked before, but for the same schema. "forced" are
// the tokens that need no step of the model. Times are those of this thread, in microseconds.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "generate/sample/grammar_filter.h"

namespace tokamak {
namespace {

/// Microseconds that this thread has run: what else the processor does is not counted.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e6 + double(time.tv_nsec) * 1e-3;
}

bool has_bit(std::span<const uint32_t> words, uint32_t id) {
  return (words[id / 32] >> id % 32 & 1) != 0;
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
  double start = now();
  const auto vocabulary = std::make_shared<const GrammarVocabulary>(*tokenizer);
  const double vocabulary_us = now() - start;
  std::vector<double> masks_us, pushes_us, runs_us, compiles_us;
  size_t forced = 0;
  for (int i = 2; i < argc; ++i) {
    std::ifstream lines(argv[i]);
    for (std::string line; std::getline(lines, line);) {
      const auto asked = Json::parse(line);
      if (!asked) continue;
      start = now();
      auto grammar = Grammar::from_json_schema(asked->find("schema")->dump());
      compiles_us.push_back(now() - start);
      if (!grammar) continue;
      auto masks = std::make_shared<GrammarMasks>(
          std::make_shared<const Grammar>(*std::move(grammar)), vocabulary);
      for (const Json& test : asked->find("tests")->as_array()) {
        if (!test.find("valid")->as_bool()) continue;
        const auto ids = tokenizer->encode(text_of(*test.find("data")), {.add_special = false});
        if (!ids) continue;
        GrammarFilter filter(masks, *tokenizer, {});
        std::span<const uint32_t> left = *ids;
        while (!left.empty()) {
          start = now();
          const std::vector<uint32_t> run = filter.forced();
          runs_us.push_back(now() - start);
          const auto next = left.first(std::min(run.size(), left.size()));
          if (!run.empty() && std::ranges::equal(next, run)) {
            for (const uint32_t id : run) filter.push(id);
            forced += run.size();
            left = left.subspan(run.size());
            continue;
          }
          start = now();
          const auto mask = filter.mask(vocabulary->size());
          masks_us.push_back(now() - start);
          if (!mask || !has_bit(*mask, left.front())) break;
          start = now();
          filter.push(left.front());
          pushes_us.push_back(now() - start);
          left = left.subspan(1);
        }
      }
    }
  }
  if (masks_us.empty()) return 3;
  fmt::print(
      "{{\"vocabulary\": {}, \"vocabulary_us\": {:.0f}, \"forced\": {}, \"mask_us\": {}, "
      "\"push_us\": {}, \"run_us\": {}, \"compile_us\": {}}}\n",
      vocabulary->size(), vocabulary_us, forced, shares(masks_us), shares(pushes_us),
      shares(runs_us), shares(compiles_us));
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
