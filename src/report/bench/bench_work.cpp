#include "report/bench/bench_work.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/check.h"

namespace tokamak {
namespace {

/// Tokens around an image: what opens the message, and a question.
constexpr uint32_t kBeforeImage = 4, kQuestion = 16;
/// The small piece of work that is checked has these sizes.
constexpr uint32_t kCheckTexts = 4, kCheckTokens = 12, kCheckSide = 64;

Image noise_image(uint32_t side) {
  Image image = black_image(side, side);
  std::mt19937 random(1);
  for (uint8_t& value : image.rgb) value = uint8_t(random());
  return image;
}

// Texts to vectors and scores.

struct Texts {
  std::vector<std::vector<uint32_t>> ids;
  std::vector<uint32_t> types;  // of the tokens of a pair: its first half is the query
  std::vector<EncoderInput> pairs() const {
    std::vector<EncoderInput> out;
    for (const auto& one : ids) out.push_back({.ids = one, .types = types});
    return out;
  }
};

Texts make_texts(const Engine& engine, uint32_t count, uint32_t tokens) {
  Texts texts;
  const uint32_t vocab = engine.compiled().facts.vocab;
  for (uint32_t i = 0; i < count; ++i) texts.ids.push_back(random_ids(tokens, vocab, i + 1));
  texts.types.assign(tokens, 0);
  std::fill(texts.types.begin() + tokens / 2, texts.types.end(), 1);
  return texts;
}

Result<std::vector<float>> encoded(Engine& engine, const Texts& texts) {
  if (engine.compiled().facts.score) return engine.scores(texts.pairs());
  TOK_TRY(const auto vectors, engine.embed(std::span(texts.ids)));
  std::vector<float> all;
  for (const auto& vector : vectors) all.insert(all.end(), vector.begin(), vector.end());
  return all;
}

Result<std::vector<WorkTest>> time_texts(Engine& engine, const BenchOptions& options,
                                         const Clock& clock) {
  const bool ranks = engine.compiled().facts.score.has_value();
  const char* const what = ranks ? "pairs" : "texts";
  const Texts texts = make_texts(engine, options.texts, options.text_tokens);
  WorkTest test{.name = fmt::format("{} {} of {} tokens", options.texts, what, options.text_tokens),
                .unit = fmt::format("{}/s", what),
                .amount = double(options.texts),
                .tokens = uint64_t{options.texts} * options.text_tokens};
  const auto once = [&](double&) -> Result<void> {
    TOK_TRY(encoded(engine, texts));
    return {};
  };
  TOK_TRY(repeat(test, options, clock, once));
  return std::vector{std::move(test)};
}

// An image and the first token about it.

Result<std::vector<float>> logits_about(Engine& engine, const ImageRef& image) {
  const std::vector<uint32_t> around =
      random_ids(kBeforeImage + kQuestion, engine.compiled().vision->placeholder);
  std::vector<uint32_t> ids(around.begin(), around.begin() + kBeforeImage);
  ids.push_back(engine.compiled().vision->placeholder);
  ids.insert(ids.end(), around.begin() + kBeforeImage, around.end());
  TOK_TRY(const std::vector<uint32_t> placed, engine.place_images(ids, {&image, 1}));
  TOK_TRY(Session session, engine.start());
  TOK_TRY(const std::span<const float> logits, session.feed(placed));
  return std::vector<float>(logits.begin(), logits.end());
}

Result<std::vector<WorkTest>> time_seeing(Engine& engine, const BenchOptions& options,
                                          const Clock& clock) {
  const uint32_t side = options.image_side;
  const Image image = noise_image(side);
  TOK_TRY(const uint32_t tokens, engine.image_tokens({side, side}));
  WorkTest test{.name = fmt::format("image of {0} x {0} to a token", side),
                .unit = "images/s",
                .amount = 1,
                .tokens = uint64_t{tokens} + kBeforeImage + kQuestion,
                .first_name = "rows"};
  uint32_t run = 0;
  const auto once = [&](double& first) -> Result<void> {
    // A tenant of its own, so that no run finds what another one has left.
    TOK_TRY(const ImageRef seen, engine.encode_image(image, fmt::format("run {}", run++)));
    first = clock();
    TOK_TRY(const std::vector<float> logits, logits_about(engine, seen));
    TOK_TRY(greedy_token(logits));
    return {};
  };
  TOK_TRY(repeat(test, options, clock, once));
  return std::vector{std::move(test)};
}

}  // namespace

Result<void> repeat(WorkTest& test, const BenchOptions& options, const Clock& clock,
                    const std::function<Result<void>(double& first)>& once) {
  for (uint32_t i = 0; i <= options.repetitions; ++i) {
    if (options.cancelled && options.cancelled()) {
      return fail(ErrorCode::kCancelled, "The measurement was cancelled.");
    }
    if (options.progress) {
      options.progress(i == 0 ? test.name + ": warming up"
                              : fmt::format("{}: {} of {}", test.name, i, options.repetitions));
    }
    double first = 0;
    const double start = clock();
    TOK_TRY(once(first));
    const double end = clock();
    if (i == 0) continue;
    test.seconds.push_back(end - start);
    if (!test.first_name.empty()) test.first_seconds.push_back(first - start);
  }
  return {};
}

bool is_other_work(const Engine::Compiled& compiled, const BenchOptions& options) {
  return !compiled.gives_text() || options.image_side > 0;
}

BenchKind bench_kind(const Engine::Compiled& compiled, const BenchOptions& options) {
  if (compiled.facts.hears) return BenchKind::kHears;
  if (compiled.facts.speaks) return BenchKind::kSpeaks;
  if (!compiled.gives_text()) return BenchKind::kTexts;
  return options.image_side > 0 ? BenchKind::kImage : BenchKind::kText;
}

void prepare_work(const BenchOptions& options, OpenOptions& open) {
  open.image_pixels = uint64_t{options.image_side} * options.image_side;
}

Result<std::vector<WorkTest>> time_work(Engine& engine, const BenchOptions& options,
                                        const Clock& clock) {
  const Engine::Compiled& compiled = engine.compiled();
  if (compiled.facts.hears) return time_hearing(engine, options, clock);
  if (compiled.facts.speaks) return time_speaking(engine, options, clock);
  if (!compiled.gives_text()) return time_texts(engine, options, clock);
  return time_seeing(engine, options, clock);
}

Result<WorkResults> work_results(Engine& engine, const BenchOptions& options) {
  const Engine::Compiled& compiled = engine.compiled();
  if (compiled.facts.hears) return heard_results(engine);
  if (compiled.facts.speaks) return said_results(engine, options);
  std::vector<float> result;
  if (!compiled.gives_text()) {
    const uint32_t tokens = std::min(kCheckTokens, options.text_tokens);
    TOK_TRY(result, encoded(engine, make_texts(engine, kCheckTexts, tokens)));
  } else {
    TOK_TRY(const ImageRef seen,
            engine.encode_image(noise_image(std::min(kCheckSide, options.image_side))));
    TOK_TRY(result, logits_about(engine, seen));
  }
  return WorkResults{std::move(result)};
}

double relative_error(const WorkResults& a, const WorkResults& b) {
  TOK_CHECK(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    TOK_CHECK(a[i].size() == b[i].size());
    const double here = relative_error(std::span(a[i]), std::span(b[i]));
    if (std::isnan(here)) return here;
    largest = std::max(largest, here);
  }
  return largest;
}

bool are_finite(const WorkResults& results) {
  return std::ranges::all_of(results, [](const std::vector<float>& one) {
    return std::ranges::all_of(one, [](float value) { return std::isfinite(value); });
  });
}

}  // namespace tokamak
