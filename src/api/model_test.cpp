#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "api/settings.h"
#include "engine/engine.h"
#include "engine/requests/image_files.h"
#include "tokamak/tokamak.h"

namespace tokamak {
namespace {

using namespace std::chrono_literals;

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";
constexpr const char* kPrompt = "Once upon a time";

ModelOptions small() {
  ModelOptions options;
  options.model = kModel;
  options.backend = "cpu";
  options.context = 96;
  options.sequences = 2;
  return options;
}

Model open(const ModelOptions& options = small()) {
  auto model = Model::open(options);
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

/// Opens a plain engine, to compare with.
std::unique_ptr<Engine> engine() {
  auto engine = Engine::open({.model = kModel, .backend = "cpu", .context = 96});
  EXPECT_TRUE(engine) << engine.error().message;
  return *std::move(engine);
}

struct Received {
  std::string text;
  std::vector<uint32_t> ids;
  std::vector<Logprobs> logprobs;
};

Received read_all(Stream& stream) {
  Received all;
  while (const auto piece = stream.next()) {
    all.text += piece->text;
    for (const TextPiece::Token& token : piece->tokens) {
      all.ids.push_back(token.id);
      if (token.logprobs) all.logprobs.push_back(*token.logprobs);
    }
  }
  return all;
}

TEST(Model, GivesTheTokensThatAnEngineGivesAlone) {
  Model model = open();
  const auto alone = engine();
  GenerationParams params = *alone->defaults();
  params.max_tokens = 12;
  for (const double temperature : {0.0, 0.9}) {
    params.sampling.temperature = temperature;
    params.sampling.seed = 7;
    const auto expected = alone->generate(kPrompt, params);
    ASSERT_TRUE(expected) << expected.error().message;
    auto stream =
        model.start({.prompt = kPrompt, .max_tokens = 12, .temperature = temperature, .seed = 7});
    ASSERT_TRUE(stream) << stream.error().message;
    const Received all = read_all(*stream);
    EXPECT_TRUE(stream->ended());
    const auto result = stream->result();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->ids, expected->ids);
    EXPECT_EQ(result->text, expected->text);
    EXPECT_EQ(result->finish, FinishReason::kMaxTokens);
    EXPECT_EQ(result->prompt_tokens, expected->prompt_tokens);
    EXPECT_EQ(result->seed, 7u);
    EXPECT_EQ(all.ids, expected->ids);
    EXPECT_EQ(all.text, expected->text);
    EXPECT_TRUE(all.logprobs.empty());
  }
}

TEST(Model, SamplesAsItRecommendsWhereARequestSaysNothing) {
  Model model = open();
  const auto alone = engine();
  GenerationParams params = *alone->defaults();
  ASSERT_GT(params.sampling.temperature, 0) << "a model that recommends nothing shows nothing";
  params.max_tokens = 12;
  auto stream = model.start({.prompt = kPrompt, .max_tokens = 12});
  ASSERT_TRUE(stream);
  const auto result = stream->result();
  ASSERT_TRUE(result);
  params.sampling.seed = result->seed;
  EXPECT_EQ(alone->generate(kPrompt, params)->ids, result->ids);
  auto other = model.start({.prompt = kPrompt, .max_tokens = 1});
  EXPECT_NE(other->result()->seed, result->seed);
}

TEST(Model, TakesIdsStopsGrammarsAndLogprobs) {
  Model model = open();
  const auto ids = model.tokenize(kPrompt);
  ASSERT_TRUE(ids);
  auto stream = model.start({.ids = *ids,
                             .max_tokens = 12,
                             .temperature = 0,
                             .stop = {"lived"},
                             .logprobs = true,
                             .top_logprobs = 3});
  ASSERT_TRUE(stream) << stream.error().message;
  const Received all = read_all(*stream);
  const auto result = stream->result();
  EXPECT_EQ(result->text, ", there ");
  EXPECT_EQ(result->finish, FinishReason::kStopString);
  EXPECT_EQ(result->stop, "lived");
  ASSERT_EQ(all.logprobs.size(), result->ids.size());
  EXPECT_EQ(all.logprobs[0].chosen.id, result->ids[0]);
  ASSERT_EQ(all.logprobs[0].top.size(), 3u);
  EXPECT_EQ(all.logprobs[0].top[0].logprob, all.logprobs[0].chosen.logprob);
  auto limited =
      model.start({.prompt = kPrompt, .temperature = 0, .grammar = R"(root ::= " fox")"});
  ASSERT_TRUE(limited) << limited.error().message;
  EXPECT_EQ(limited->result()->text, " fox");
  EXPECT_EQ(*model.detokenize(*model.tokenize("a fox", false)), "a fox");
}

TEST(Model, RendersChats) {
  Model model = open();
  const auto alone = engine();
  const std::string variables =
      R"({"messages": [{"role": "user", "content": "Hello"}], "add_generation_prompt": true})";
  const auto text = model.render_chat(variables);
  ASSERT_TRUE(text) << text.error().message;
  GenerationParams greedy = *alone->defaults();
  greedy.sampling.temperature = 0;
  greedy.max_tokens = 5;
  const auto expected = alone->generate_rendered(*text, greedy);
  for (const TextRequest& request :
       {TextRequest{.messages = {{"user", "Hello"}}, .max_tokens = 5, .temperature = 0},
        TextRequest{.chat_variables = variables, .max_tokens = 5, .temperature = 0}}) {
    auto stream = model.start(request);
    ASSERT_TRUE(stream) << stream.error().message;
    EXPECT_EQ(stream->result()->ids, expected->ids);
    EXPECT_EQ(stream->result()->prompt_tokens, expected->prompt_tokens);
  }
}

TEST(Model, ErrorsAreValues) {
  ModelOptions options = small();
  options.model = "no/such/folder/anywhere";
  EXPECT_EQ(Model::open(options).error().code, ErrorCode::kInvalidInput);
  options = small();
  options.backend = "abacus";
  EXPECT_EQ(Model::open(options).error().code, ErrorCode::kUsage);

  Model model = open();
  const auto refused = [&](const TextRequest& request, std::string_view part) {
    const auto stream = model.start(request);
    ASSERT_FALSE(stream) << part;
    EXPECT_NE(stream.error().message.find(part), std::string::npos) << stream.error().message;
  };
  refused({.ids = std::vector<uint32_t>(97, 5)}, "97 tokens, but the context has 96");
  refused({.ids = {1u << 30}}, "beyond the vocabulary");
  refused({.prompt = kPrompt, .ids = {5}}, "more than one of prompt, ids and a chat");
  refused({.prompt = kPrompt, .temperature = -1}, "temperature");
  refused({.prompt = kPrompt, .grammar = "root = 1"}, "grammar: ");
  refused({.messages = {{"user", "a"}, {"narrator", "b"}, {"user", "c"}, {"user", "d"}}},
          "roles must alternate");
  refused({.chat_variables = "[1]"}, "expected a JSON object");
  refused({.messages = {{"user", "a"}}, .chat_variables = R"({"messages": []})"}, "has others");
  EXPECT_FALSE(model.render_chat("{"));
  const std::vector<std::string> texts = {"a"};
  EXPECT_FALSE(model.embed(texts));
}

TEST(Model, RefusesARequestThatContinuesNothing) {
  Model model = open();
  const auto stream = model.start({});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, ErrorCode::kUsage);
  EXPECT_EQ(stream.error().message, "The request has no prompt, ids or messages to continue.");
}

TEST(Model, NamesAContextOfOneAndADeviceOfTheCpu) {
  const auto refused = [](const ModelOptions& options, std::string_view part) {
    const auto model = Model::open(options);
    ASSERT_FALSE(model) << part;
    EXPECT_EQ(model.error().code, ErrorCode::kUsage);
    EXPECT_NE(model.error().message.find(part), std::string::npos) << model.error().message;
  };
  ModelOptions options = small();
  options.context = 1;
  refused(options, "context is 1, but a prompt and a token need 2 positions");
  options = small();
  options.device = 9;
  refused(options, "device is 9, which chooses among WebGPU or CUDA devices; the backend is cpu.");
}

TEST(Model, IsClosedOnceItWasMovedFrom) {
  Model model = open();
  auto stream = model.start({.prompt = kPrompt, .max_tokens = 2});
  ASSERT_TRUE(stream);
  Model other = std::move(model);
  const std::vector<std::string> texts = {"a"};
  EXPECT_EQ(model.start({.prompt = kPrompt}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(model.embed(texts).error().code, ErrorCode::kUsage);
  EXPECT_EQ(model.rerank("a", texts).error().code, ErrorCode::kUsage);
  EXPECT_EQ(model.tokenize("a").error().message, "The model is closed.");
  EXPECT_FALSE(model.detokenize(std::vector<uint32_t>{5}));
  EXPECT_FALSE(model.render_chat("{}"));
  EXPECT_EQ(model.details().name, "");
  EXPECT_FALSE(model.pump());
  model.close();

  Stream moved = *std::move(stream);
  EXPECT_FALSE(stream->next());
  EXPECT_TRUE(stream->ended());
  stream->cancel();
  EXPECT_EQ(stream->result().error().code, ErrorCode::kUsage);
  EXPECT_EQ(moved.result()->ids.size(), 2u) << "it goes on where it was moved to";
  EXPECT_TRUE(other.start({.prompt = kPrompt, .max_tokens = 1}));
}

TEST(Model, OpeningCanBeCancelledAndReportsProgress) {
  ModelOptions options = small();
  std::vector<LoadPhase> phases;
  uint64_t last = 0;
  options.progress = [&](LoadPhase phase, uint64_t done, uint64_t total) {
    phases.push_back(phase);
    EXPECT_LE(last, done);
    EXPECT_LE(done, total);
    last = done;
    return true;
  };
  open(options);
  EXPECT_TRUE(std::ranges::is_sorted(phases));
  EXPECT_EQ(phases.front(), LoadPhase::kFiles);
  EXPECT_EQ(phases.back(), LoadPhase::kKernels);
  for (const LoadPhase when : {LoadPhase::kFiles, LoadPhase::kWeights, LoadPhase::kKernels}) {
    options.progress = [&](LoadPhase phase, uint64_t, uint64_t) { return phase != when; };
    const auto cancelled = Model::open(options);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  }
}

TEST(Model, ReportsWhatItIs) {
  const Model model = open();
  const ModelDetails& details = model.details();
  EXPECT_EQ(details.name, kModel);
  EXPECT_EQ(details.context, 96u);
  EXPECT_EQ(details.sequences, 2u);
  EXPECT_EQ(details.dimensions, 0u);
  EXPECT_GT(details.vocabulary, 1000u);
  EXPECT_GT(details.device_bytes, 1000000u);
}

TEST(Model, Ranks) {
  ModelOptions options = small();
  options.model = TOKAMAK_TEST_DATA "/rerank/cross_bert";
  Model model = open(options);
  const std::vector<std::string> documents = {"the fox", "a river", "an owl"};
  const auto scores = model.rerank("a fox", documents);
  ASSERT_TRUE(scores) << scores.error().message;
  const auto alone = Engine::open({.model = options.model, .backend = "cpu"});
  EXPECT_EQ(*scores, *(*alone)->rerank("a fox", documents));
  EXPECT_EQ(model.start({.prompt = "A fox"}).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(model.embed(documents).error().code, ErrorCode::kUnsupported);
}

TEST(Model, EmbedsInBatches) {
  ModelOptions options = small();
  options.pooling = "mean";
  options.backend = "cpu-reference";  // the same bits alone and beside others
  Model model = open(options);
  const std::vector<std::string> texts = {"A fox", "The sea"};
  const auto vectors = model.embed(texts);
  ASSERT_TRUE(vectors) << vectors.error().message;
  ASSERT_EQ(vectors->size(), 2u);
  EXPECT_EQ((*vectors)[0].size(), model.details().dimensions);
  const auto alone =
      Engine::open({.model = kModel, .backend = options.backend, .context = 96, .pooling = "mean"});
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(*(*alone)->embed(texts[i]), (*vectors)[i]);
  EXPECT_EQ(model.embed(std::span(texts).first(1), {.dimensions = 8})->at(0).size(), 8u);
  EXPECT_FALSE(model.embed(texts, {.prompt = "unknown"}));
  EXPECT_EQ(model.start({.prompt = "A fox"}).error().code, ErrorCode::kUnsupported);
}

TEST(Model, RunsWithoutAThreadWhereItsCallerPumps) {
  ModelOptions options = small();
  options.has_thread = false;
  Model model = open(options);
  auto pumped = model.start({.prompt = kPrompt, .max_tokens = 6, .temperature = 0});
  ASSERT_TRUE(pumped);
  EXPECT_FALSE(pumped->next(0s)) << "nothing has run";
  while (model.pump()) {
  }
  const auto piece = pumped->next(0s);
  ASSERT_TRUE(piece) << "a reader that comes late finds everything";
  EXPECT_EQ(piece->tokens.size(), 6u);
  EXPECT_FALSE(pumped->next(0s));
  EXPECT_TRUE(pumped->ended());
  auto read = model.start({.prompt = kPrompt, .max_tokens = 6, .temperature = 0});
  EXPECT_EQ(read_all(*read).ids, pumped->result()->ids) << "next() pumps";
  auto waited = model.start({.prompt = kPrompt, .max_tokens = 6, .temperature = 0});
  EXPECT_EQ(waited->result()->ids, pumped->result()->ids) << "so does result()";
  auto left = model.start({.prompt = kPrompt});
  model.close();
  EXPECT_EQ(left->result()->finish, FinishReason::kCancelled);
  EXPECT_FALSE(open().pump()) << "with a thread there is nothing to do";
}

TEST(Model, DroppedAndOverdueRequestsMakeRoom) {
  ModelOptions options = small();
  options.sequences = 1;
  Model model = open(options);
  std::atomic<int> steps = 0;
  {
    auto dropped = model.start(
        {.prompt = kPrompt, .max_tokens = 80, .end_ids = std::vector<uint32_t>(), .notify = [&] {
           ++steps;
         }});
    ASSERT_TRUE(dropped);
    ASSERT_TRUE(dropped->next());
  }
  auto next = model.start({.prompt = kPrompt, .max_tokens = 2});
  EXPECT_EQ(next->result()->finish, FinishReason::kMaxTokens);
  EXPECT_LT(steps, 40) << "the one that was dropped ran to its end";
  auto overdue = model.start({.prompt = kPrompt, .deadline = 0s});
  EXPECT_EQ(overdue->result()->finish, FinishReason::kCancelled);
  EXPECT_TRUE(overdue->result()->ids.empty());
}

TEST(Settings, KeepTheirValuesWhereATextIsRefused) {
  ModelOptions options;
  options.context = 7;
  EXPECT_FALSE(set_by_name(options, "has_thread", "no"));
  EXPECT_FALSE(set_by_name(options, "context", "12x"));
  EXPECT_TRUE(options.has_thread);
  EXPECT_EQ(options.context, 7u);
  TextRequest request;
  EXPECT_FALSE(set_by_name(request, "temperature", "0.5x"));
  EXPECT_FALSE(request.temperature);
}

TEST(Stream, IsSilentOnceItWasDropped) {
  ModelOptions options = small();
  options.has_thread = false;
  Model model = open(options);
  int calls = 0;
  {
    auto stream = model.start({.prompt = kPrompt, .max_tokens = 8, .notify = [&] { ++calls; }});
    ASSERT_TRUE(stream) << stream.error().message;
    ASSERT_TRUE(stream->next());
  }
  const int before = calls;
  EXPECT_GT(before, 0);
  while (model.pump()) {
  }
  EXPECT_EQ(calls, before);
}

/// A model that reads images, and files of some.
ModelOptions with_images() {
  ModelOptions options = small();
  options.model = TOKAMAK_TEST_DATA "/vision/qwen3_5_vl_images";
  options.context = 128;
  options.image_pixels = 1 << 16;
  return options;
}
std::string image_file(const std::string& name) {
  return TOKAMAK_TEST_DATA "/images/" + name;
}

TEST(ModelImages, NeedATowerWhereAFileIsNamed) {
  ModelOptions options = small();
  options.model = TOKAMAK_TEST_DATA "/gguf/llama-q4_0.gguf";
  options.projector = options.model;
  const auto model = Model::open(options);
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("expected \"clip\": the file of a tower of images"),
            std::string::npos)
      << model.error().message;
}

TEST(ModelImages, GiveTheTokensThatAnEngineGivesAlone) {
  Model model = open(with_images());
  const auto alone = Engine::open(
      {.model = with_images().model, .backend = "cpu", .context = 128, .image_pixels = 1 << 16});
  ASSERT_TRUE(alone) << alone.error().message;
  const std::string path = image_file("wide.png");
  const auto image = image_of_file(path);
  ASSERT_TRUE(image) << image.error().message;
  const auto encoded = (*alone)->encode_image(*image);
  ASSERT_TRUE(encoded) << encoded.error().message;
  const auto ids = (*alone)->encode_with_images(
      "user:<|vision_start|><|image_pad|><|vision_end|>What is it?\nassistant:", {&*encoded, 1});
  ASSERT_TRUE(ids) << ids.error().message;
  Request request{.prompt = *ids, .images = {*encoded}};
  request.params.sampling.temperature = 0;
  request.params.max_tokens = 8;
  const auto expected = (*alone)->generate(std::move(request));
  ASSERT_TRUE(expected) << expected.error().message;
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto bytes = std::as_bytes(std::span(text));
  for (const ChatImage& one :
       {ChatImage{.path = path}, ChatImage{.path = {}, .bytes = {bytes.begin(), bytes.end()}}}) {
    auto stream = model.start({.messages = {{"user", "What is it?", {one}}}, .max_tokens = 8});
    ASSERT_TRUE(stream) << stream.error().message;
    const auto said = stream->result();
    ASSERT_TRUE(said) << said.error().message;
    EXPECT_EQ(said->ids, expected->ids);
    EXPECT_EQ(said->prompt_tokens, expected->prompt_tokens);
  }
}

TEST(ModelImages, ThatAreWrongAreRefused) {
  Model model = open(with_images());
  const auto error_of = [](Model& own, ChatImage image) {
    const auto stream = own.start({.messages = {{"user", "?", {std::move(image)}}}});
    return stream ? std::string("no error") : stream.error().message;
  };
  EXPECT_EQ(error_of(model, {}),
            "messages[0]: an image has a path or bytes, expected one of both.");
  EXPECT_NE(error_of(model, {.path = "no/such.png"}).find("no/such.png"), std::string::npos);
  Model text = open();
  EXPECT_NE(error_of(text, {.path = image_file("wide.png")}).find("was opened for text only"),
            std::string::npos);
  ChatMessage many = {"user", "?"};
  many.images.assign(16, {.path = image_file("photo420.jpg")});
  const auto stream = model.start({.messages = {many}});
  ASSERT_FALSE(stream);
  EXPECT_NE(stream.error().message.find("but the context has 128 positions."), std::string::npos);
}

}  // namespace
}  // namespace tokamak
