// Guesses that are verified change no token: whatever runs beside, is cancelled, gives its pages
// back or is lost with the device, and whatever a request asks for.
#include <map>
#include <random>

#include "reliability/fragile_engine.h"
#include "text/grammar/grammar.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kContext = 96, kSequences = 3, kNumbers = 18;

std::unique_ptr<Engine> open_small(const std::string& model, Fault& fault,
                                   const std::string& speculate, uint32_t cache_tokens = 0,
                                   const std::string& draft = "") {
  OpenOptions options;
  options.backend = "cpu-reference";
  options.context = kContext;
  options.chunk = 24;
  options.sequences = kSequences;
  options.cache_tokens = cache_tokens;
  options.speculate = speculate;
  options.draft = draft;
  return open_fragile(model, fault, options);
}

/// Request `number`: the same every time. Its prompt says some things twice, which tiny models go
/// on with, if at all, for some tokens.
Request request_of(uint32_t number, uint32_t vocab) {
  std::mt19937 random(number);
  Request request;
  for (uint32_t i = 0; i < 8 * (number % 3) + 3; ++i) request.prompt.push_back(i % 7);
  for (uint32_t i = 0; i < 5 + number % 11; ++i) {
    request.prompt.push_back(uint32_t(random()) % std::min(vocab, 12u));
  }
  SamplingParams& sampling = request.params.sampling;
  sampling.temperature = number % 3 == 0 ? 0 : 0.7;
  sampling.top_k = number % 3 == 1 ? 3 : 0;
  sampling.top_p = number % 6 == 2 ? 0.9 : 1;
  sampling.repetition_penalty = number % 5 == 1 ? 1.2 : 1;
  sampling.presence_penalty = number % 7 == 4 ? 0.5 : 0;
  sampling.seed = number;
  request.params.logprobs = number % 8 == 3;
  request.params.max_tokens = 5 + 2 * number;
  return request;
}

/// The tokens that each request gives alone, without guesses.
std::vector<std::vector<uint32_t>> tokens_alone(Engine& plain) {
  const uint32_t vocab = plain.compiled().facts.vocab;
  std::vector<std::vector<uint32_t>> alone(kNumbers);
  for (uint32_t i = 0; i < kNumbers; ++i) {
    Request request = request_of(i, vocab);
    request.done = [&](Result<Generation> done) {
      ASSERT_TRUE(done) << done.error().message;
      alone[i] = done->ids;
    };
    EXPECT_TRUE((*plain.scheduler())->add(std::move(request)));
    EXPECT_TRUE((*plain.scheduler())->run());
    EXPECT_FALSE(alone[i].empty());
  }
  return alone;
}

/// Random schedules on each of the engines in turn: requests come, are cancelled, give their pages
/// back and are lost with the device, and every one gives the tokens that it gives alone.
void run_schedules(std::span<Engine* const> engines, Fault& fault,
                   std::span<const std::vector<uint32_t>> alone) {
  const uint32_t vocab = engines[0]->compiled().facts.vocab;
  std::mt19937 random(1);
  for (uint32_t round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    Scheduler* scheduler = *engines[round % engines.size()]->scheduler();
    std::vector<RequestId> ids;
    uint32_t finished = 0;
    fault.count_from_here();
    fault.delays_results = round % 4 != 0;
    fault.after_steps = round % 3 == 2 ? 5 + uint32_t(random() % 20) : UINT32_MAX;
    fault.times = fault.losses + 2;
    for (bool continues = true; continues || ids.size() < 8;) {
      if (ids.size() < 8 && random() % 3 != 0) {
        const auto number = uint32_t(random() % kNumbers);
        Request request = request_of(number, vocab);
        request.priority = int(random() % 2);
        request.done = [&, number](Result<Generation> done) {
          ++finished;
          ASSERT_TRUE(done) << done.error().message;
          ASSERT_LE(done->ids.size(), alone[number].size());
          const auto own = std::span(alone[number]).first(done->ids.size());
          EXPECT_TRUE(std::ranges::equal(done->ids, own)) << number;
          EXPECT_TRUE(done->finish == FinishReason::kCancelled ||
                      done->ids.size() == alone[number].size())
              << number;
        };
        const auto id = scheduler->add(std::move(request));
        ASSERT_TRUE(id) << id.error().message;
        ids.push_back(*id);
      }
      if (random() % 25 == 0 && !ids.empty()) scheduler->cancel(ids.back());
      const auto stepped = scheduler->step();
      ASSERT_TRUE(stepped) << stepped.error().message;
      continues = *stepped;
      if (random() % 2 == 0) {
        ASSERT_TRUE(scheduler->wait());
      }
    }
    EXPECT_EQ(finished, ids.size());
    const SchedulerStats stats = scheduler->stats();
    EXPECT_EQ(stats.free_pages + stats.cached_pages, stats.pages);
  }
}

struct GuessingSchedules : testing::TestWithParam<std::string> {};

TEST_P(GuessingSchedules, GiveEveryRequestItsOwnTokens) {
  Fault fault;
  const auto plain = open_small(GetParam(), fault, "off");
  const auto roomy = open_small(GetParam(), fault, "lookup:7");
  const auto tight = open_small(GetParam(), fault, "lookup:4", kContext + 32);
  ASSERT_TRUE(plain != nullptr && roomy != nullptr && tight != nullptr);
  Engine* const engines[] = {roomy.get(), tight.get()};
  run_schedules(engines, fault, tokens_alone(*plain));
  // A state that cannot take anything back has no guesses.
  const bool guesses = GetParam() != "lfm2";
  for (const auto* engine : {&roomy, &tight}) {
    const SchedulerStats stats = (*(*engine)->scheduler())->stats();
    EXPECT_EQ(stats.accepted_tokens > 0, guesses);
    EXPECT_EQ(stats.drafted_tokens > stats.accepted_tokens, guesses);
  }
  // A model whose layers all have windows always has pages.
  EXPECT_TRUE((*tight->scheduler())->stats().preemptions > 0 || GetParam() == "mistral_swa");
  EXPECT_GT(fault.losses, 1u);
}

INSTANTIATE_TEST_SUITE_P(Models, GuessingSchedules,
                         testing::Values("gemma3_hub", "gemma4_ple", "lfm2", "llama_tied_rope3",
                                         "mistral_swa", "phi3_longrope", "qwen3_moe"),
                         [](const auto& one) { return one.param; });

/// A model and its draft model.
struct DraftPair {
  const char *model, *draft;
};

struct DraftedSchedules : testing::TestWithParam<DraftPair> {};

TEST_P(DraftedSchedules, GiveEveryRequestItsOwnTokens) {
  const auto [model, draft] = GetParam();
  Fault fault;
  const auto plain = open_small(model, fault, "off");
  const auto roomy = open_small(model, fault, "draft:6", 0, draft);
  const auto tight = open_small(model, fault, "draft:3", kContext + 32, draft);
  const auto adapting = open_small(model, fault, "auto", 0, draft);
  ASSERT_TRUE(plain != nullptr && roomy != nullptr && tight != nullptr && adapting != nullptr);
  Engine* const engines[] = {roomy.get(), tight.get(), adapting.get()};
  run_schedules(engines, fault, tokens_alone(*plain));
  for (Engine* const engine : {roomy.get(), tight.get()}) {
    const SchedulerStats stats = (*engine->scheduler())->stats();
    EXPECT_GT(stats.drafted_tokens, 100u);
    EXPECT_GT(stats.drafted_tokens, stats.accepted_tokens) << "some are drawn";
    EXPECT_TRUE(stats.accepted_tokens > 0 || std::string_view(model) != draft);
  }
  EXPECT_TRUE((*tight->scheduler())->stats().preemptions > 0 ||
              std::string_view(model) == "mistral_swa");
  EXPECT_GT(fault.losses, 1u);
}

INSTANTIATE_TEST_SUITE_P(Models, DraftedSchedules,
                         testing::Values(DraftPair{"llama_tied_rope3", "llama_tied_rope3"},
                                         DraftPair{"phi3_longrope", "phi3_longrope"},
                                         DraftPair{"mistral_swa", "qwen3_qknorm"},
                                         DraftPair{"qwen3_moe", "mistral_swa"}),
                         [](const auto& one) {
                           return fmt::format("{}_by_{}", one.param.model, one.param.draft);
                         });

/// A model is right about itself wherever its cache holds what the sequence says.
struct DraftingForItself : testing::TestWithParam<std::string> {};

TEST_P(DraftingForItself, IsAlwaysRight) {
  Fault fault;
  const auto engine = open_small(GetParam(), fault, "draft:5", 0, GetParam());
  ASSERT_TRUE(engine != nullptr);
  Scheduler* scheduler = *engine->scheduler();
  uint32_t finished = 0;
  for (uint32_t i = 0; i < 5; ++i) {  // two wait for the slots of others
    Request request;
    for (uint32_t k = 0; k < 20 + 9 * i; ++k) request.prompt.push_back((k * k + i) % 50);
    request.params.sampling.temperature = 0;
    request.params.max_tokens = 30;
    request.done = [&](Result<Generation> done) { finished += done ? 1 : 0; };
    ASSERT_TRUE(scheduler->add(std::move(request)));
    ASSERT_TRUE(scheduler->step());
  }
  ASSERT_TRUE(scheduler->run());
  EXPECT_EQ(finished, 5u);
  const SchedulerStats stats = scheduler->stats();
  EXPECT_EQ(stats.accepted_tokens, stats.drafted_tokens);
  EXPECT_GT(stats.accepted_tokens, 80u);
}

INSTANTIATE_TEST_SUITE_P(Models, DraftingForItself,
                         testing::Values("gemma3_hub", "llama_tied_rope3", "mistral_swa",
                                         "phi3_longrope"),
                         [](const auto& one) { return one.param; });

TEST(DraftedSchedules, NeedADraftModelThatCanTakeGuessesBack) {
  const auto why = [](const std::string& model, const std::string& draft) {
    OpenOptions options;
    options.backend = "cpu-reference";
    options.speculate = "draft";
    auto files = read_model_files(model_folder(model)),
         other = read_model_files(model_folder(draft));
    files->draft = std::make_shared<ModelFiles>(*std::move(other));
    const auto opened =
        Engine::load(*std::move(files), make_cpu_backend(), options, steady_clock());
    return opened ? "" : opened.error().message;
  };
  const std::string attending = model_folder("gemma3_hub"), recurrent = model_folder("lfm2");
  EXPECT_EQ(
      why("gemma3_hub", "lfm2"),
      fmt::format("The draft model {}: It has recurrent states, which cannot take back a wrong "
                  "guess; expected a draft model whose layers all attend.",
                  recurrent));
  EXPECT_EQ(why("lfm2", "gemma3_hub"),
            fmt::format("{} does not support a draft model: it has recurrent states, which cannot "
                        "take back a wrong guess.",
                        recurrent));
  EXPECT_EQ(
      why("gemma3_hub", "llama_tied_rope3"),
      fmt::format("The draft model {} has 640 tokens and {} has 512; expected a model with the "
                  "same vocabulary.",
                  model_folder("llama_tied_rope3"), attending));
}

/// The answers to requests of the built-in model, which repeats itself when the prompt does.
std::vector<Generation> answers_of(const std::string& backend, const std::string& speculate,
                                   const std::vector<GenerationParams>& all) {
  std::vector<Generation> answers;
  auto engine = Engine::open({.backend = backend,
                              .context = 256,
                              .chunk = 64,
                              .speculate = speculate,
                              .self_test = false});
  EXPECT_TRUE(engine) << engine.error().message;
  if (!engine) return answers;
  Scheduler* scheduler = *(*engine)->scheduler();
  for (const GenerationParams& params : all) {
    Request request;
    auto prompt = (*(*engine)->tokenizer())
                      ->encode("The dog said hello. The cat said hello. The dog said hello. The");
    EXPECT_TRUE(prompt) << prompt.error().message;
    if (!prompt) return answers;
    request.prompt = *std::move(prompt);
    request.params = params;
    request.done = [&](Result<Generation> done) {
      EXPECT_TRUE(done) << done.error().message;
      if (done) answers.push_back(*std::move(done));
    };
    EXPECT_TRUE(scheduler->add(std::move(request)));
    EXPECT_TRUE(scheduler->run());
  }
  const SchedulerStats stats = scheduler->stats();
  EXPECT_EQ(stats.accepted_tokens > 0, speculate != "off") << stats.drafted_tokens;
  return answers;
}

void expect_same(const std::vector<Generation>& plain, const std::vector<Generation>& guessed) {
  ASSERT_EQ(plain.size(), guessed.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(plain[i].ids, guessed[i].ids) << i;
    EXPECT_EQ(plain[i].text, guessed[i].text) << i;
    EXPECT_EQ(plain[i].finish, guessed[i].finish) << i;
    EXPECT_EQ(plain[i].stop, guessed[i].stop) << i;
  }
}

TEST(Guessing, ChangesNothingThatARequestAsksFor) {
  GenerationParams base;
  base.max_tokens = 16;
  base.sampling = {.temperature = 0.8, .seed = 5};
  std::vector<GenerationParams> all(5, base);
  all[0].sampling.temperature = 0;
  all[0].stop = {"a"};
  all[1].sampling.top_p = 0.9;
  all[1].sampling.repetition_penalty = 1.3;
  auto grammar = Grammar::parse("root ::= (\" \" (\"cat\" | \"dog\") \" said hello. The\"){2}");
  ASSERT_TRUE(grammar) << grammar.error().message;
  all[2].grammar = std::make_shared<const Grammar>(*std::move(grammar));
  all[3].sampling.frequency_penalty = 0.3;
  all[3].logprobs = true;
  all[4].sampling.temperature = 0;  // it says again what the prompt says
  const auto plain = answers_of("cpu-reference", "off", all),
             guessed = answers_of("cpu-reference", "lookup:6", all);
  expect_same(plain, guessed);
  EXPECT_EQ(plain[0].finish, FinishReason::kStopString);
  EXPECT_EQ(plain[2].finish, FinishReason::kGrammar);
}

TEST(Guessing, GivesTheSameTokensOnADevice) {
  GenerationParams greedy;
  greedy.max_tokens = 24;
  greedy.sampling.temperature = 0;
  GenerationParams seeded = greedy;
  seeded.sampling = {.temperature = 0.7, .top_k = 20, .seed = 3};
  const std::vector<GenerationParams> all = {greedy, seeded};
  expect_same(answers_of("webgpu", "off", all), answers_of("webgpu", "lookup", all));
}

}  // namespace
}  // namespace tokamak::golden
