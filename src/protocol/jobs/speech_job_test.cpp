#include "protocol/service/plain_fixture_test.h"

namespace tokamak::protocol {
namespace {

/// The recorded voice with a tokenizer that has a token for each letter; its codec lies beside it.
std::unique_ptr<Engine> open_voice() {
  auto files = read_model_files(TOKAMAK_TEST_DATA "/speech/kani_tts2");
  EXPECT_TRUE(files) << files.error().message;
  Json vocab(Json::Object{});
  for (int i = 33; i < 127; ++i) vocab.set(std::string(1, char(i)), i);
  files->tokenizer = fmt::format(
      R"({{"added_tokens": [], "pre_tokenizer": null, "decoder": null, "normalizer": null,
           "post_processor": null, "model": {{"type": "BPE", "vocab": {}, "merges": []}}}})",
      vocab.dump());
  const OpenOptions options = {.backend = "cpu", .context = 64};  // so that sounds are short
  auto engine = Engine::load(*std::move(files), make_cpu_backend(), options, steady_clock());
  EXPECT_TRUE(engine) << engine.error().message;
  return engine ? *std::move(engine) : nullptr;
}

struct Spoken {
  int status = 0, writes = 0, ends = 0;
  std::string type, bytes;

  std::string param() const {
    const auto json = Json::parse(bytes);
    const Json* error = json ? json->find("error") : nullptr;
    const Json* param = error == nullptr ? nullptr : error->find("param");
    return param == nullptr || !param->is_string() ? "" : param->as_string();
  }
};

class SpeechJobs : public testing::Test {
 protected:
  void SetUp() override {
    engine_ = open_voice();
    ASSERT_NE(engine_, nullptr);
    make_service({});
  }
  Result<std::unique_ptr<Service>> make(SpeechOptions options) {
    return Service::make(*engine_, {.model = "m",
                                    .speech = std::move(options),
                                    .unix_seconds = [] { return 0; },
                                    .random = [] { return 4u; }});
  }
  void make_service(SpeechOptions options) {
    auto service = make(std::move(options));
    ASSERT_TRUE(service) << service.error().message;
    service_ = *std::move(service);
  }

  ExchangeId begin(std::string_view body, Spoken& out, const char* method = "POST",
                   const char* path = "/v1/audio/speech") {
    HttpRequest request = {.method = method, .path = path, .body = std::string(body)};
    return service_->begin(request, {.begin =
                                         [&out](int status, std::string_view type) {
                                           out.status = status;
                                           out.type = type;
                                         },
                                     .write =
                                         [&out](std::string_view bytes) {
                                           ++out.writes;
                                           out.bytes += bytes;
                                         },
                                     .end = [&out] { ++out.ends; }});
  }
  Spoken ask(std::string_view body) {
    Spoken out;
    begin(body, out);
    while (service_->has_jobs()) service_->run_job();
    return out;
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Service> service_;
};

TEST_F(SpeechJobs, GiveTheFormatThatIsAskedFor) {
  const Spoken pcm =
      ask(R"({"model": "m", "input": "Hello.", "voice": "alloy", "response_format": "pcm"})");
  ASSERT_EQ(pcm.status, 200) << pcm.bytes;
  EXPECT_EQ(pcm.type, "audio/pcm");
  EXPECT_EQ(pcm.ends, 1);
  EXPECT_GT(pcm.writes, 1) << "while it is made";
  EXPECT_GT(pcm.bytes.size(), 1000u);
  const Spoken wav = ask(R"({"input": "Hello.", "response_format": "wav", "seed": 2})");
  EXPECT_EQ(wav.type, "audio/wav");
  EXPECT_EQ(wav.bytes.substr(44), pcm.bytes) << "the random number is 4, the seed half of it";
  EXPECT_NE(ask(R"({"input": "Hello.", "response_format": "pcm", "seed": 3})").bytes, pcm.bytes);
  EXPECT_EQ(ask(R"({"input": "Hello."})").type, "audio/mpeg");
  EXPECT_EQ(ask(R"({"input": "Hello.", "response_format": "opus"})").bytes.substr(0, 4), "OggS");
}

TEST_F(SpeechJobs, ComeInEvents) {
  const Spoken spoken =
      ask(R"({"input": "Hello.", "response_format": "pcm", "stream_format": "sse"})");
  EXPECT_EQ(spoken.type, "text/event-stream; charset=utf-8");
  EXPECT_TRUE(spoken.bytes.starts_with(R"(data: {"type": "speech.audio.delta", "audio": ")"))
      << spoken.bytes.substr(0, 80);
  EXPECT_NE(spoken.bytes.find(R"(data: {"type": "speech.audio.done", "usage": {"output_tokens": )"),
            std::string::npos);
}

TEST_F(SpeechJobs, ReportWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "input"},
      {R"({"input": 5})", "input"},
      {R"({"input": "..."})", "input"},
      {R"({"input": "Hello.", "response_format": "aac"})", "response_format"},
      {R"({"input": "Hello.", "speed": 2})", "speed"},
      {R"({"input": "Hello.", "stream_format": "lines"})", "stream_format"},
      {R"({"input": "Hello.", "voice": [1, 2]})", "voice"},
      {R"({"input": "Hello.", "voice": ["a"]})", "voice"},
  };
  for (const auto& [body, param] : cases) {
    const Spoken spoken = ask(body);
    EXPECT_EQ(spoken.status, 400) << body;
    EXPECT_EQ(spoken.param(), param) << spoken.bytes;
    EXPECT_EQ(spoken.ends, 1) << body;
  }
  EXPECT_EQ(ask(R"({"input": "Hello.", "model": "other"})").status, 404);
}

TEST_F(SpeechJobs, ComeOneAfterTheOtherAndMayBeCancelled) {
  Spoken first, second, third;
  const std::string body = R"({"input": "Hello.", "response_format": "pcm", "seed": 1})";
  const ExchangeId id = begin(body, first);
  begin(body, second);
  const ExchangeId waiting = begin(body, third);
  service_->run_job();
  EXPECT_EQ(service_->running(), 3u);
  service_->cancel(id);
  service_->cancel(waiting);
  EXPECT_EQ(service_->running(), 1u);
  while (service_->has_jobs()) service_->run_job();
  EXPECT_EQ(first.ends, 0);
  EXPECT_EQ(third.status, 0);
  EXPECT_EQ(second.bytes, ask(body).bytes) << "all of it, from the beginning";
}

TEST_F(SpeechJobs, PauseWhileTheirClientDoesNotKeepUp) {
  Spoken held;
  const std::string body = R"({"input": "Hello.", "response_format": "pcm", "seed": 1})";
  const ExchangeId id = begin(body, held);
  service_->run_job();
  service_->hold(id, true);
  EXPECT_FALSE(service_->has_jobs());
  service_->hold(id, false);
  ASSERT_TRUE(service_->has_jobs());
  while (service_->has_jobs()) service_->run_job();
  EXPECT_EQ(held.bytes, ask(body).bytes);
}

TEST_F(SpeechJobs, RunOthersBetweenSentencesWhileTheyArePaused) {
  const std::string two = R"({"input": "Hello. Goodbye.", "response_format": "pcm", "seed": 1})";
  const std::string one = R"({"input": "Hello.", "response_format": "pcm", "seed": 1})";
  Spoken held, other;
  const ExchangeId id = begin(two, held);
  service_->run_job();
  service_->hold(id, true);
  begin(one, other);
  while (service_->has_jobs()) service_->run_job();
  EXPECT_EQ(other.ends, 1) << "it came when the sentence had ended";
  EXPECT_EQ(held.ends, 0);
  service_->hold(id, false);
  while (service_->has_jobs()) service_->run_job();
  EXPECT_EQ(held.bytes, ask(two).bytes) << "as if nobody had come in between";
  EXPECT_EQ(other.bytes, ask(one).bytes);
}

TEST_F(SpeechJobs, EndWithAnErrorWhereTheServerEndsThem) {
  Spoken begun, waiting;
  const std::string body =
      R"({"input": "Hello.", "response_format": "pcm", "stream_format": "sse"})";
  begin(body, begun);
  begin(body, waiting);
  service_->run_job();
  service_->cancel_all();
  EXPECT_FALSE(service_->has_jobs());
  EXPECT_EQ(begun.ends, 1);
  EXPECT_NE(begun.bytes.find("cancelled by the server"), std::string::npos);
  EXPECT_EQ(waiting.status, 503);
}

TEST_F(SpeechJobs, HaveVoicesWithNames) {
  const std::vector<float> anna(24, 0.2f);
  std::string numbers;
  for (const float one : anna) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", one);
  const auto body = [](std::string_view voice) {
    return fmt::format(R"({{"input": "Hello.", "response_format": "pcm", "seed": 1, "voice": {}}})",
                       voice);
  };
  const std::string own = ask(body(R"("alloy")")).bytes,
                    hers = ask(body("[" + numbers + "]")).bytes;
  EXPECT_NE(own, hers);
  make_service({.voices = {{"anna", anna}}});
  EXPECT_EQ(ask(body(R"("anna")")).bytes, hers);
  EXPECT_EQ(ask(body(R"({"id": "anna"})")).bytes, hers);
  EXPECT_EQ(ask(body(R"("default")")).bytes, own);
  EXPECT_EQ(ask(body("null")).bytes, own);
  const Spoken wrong = ask(body(R"("alloy")"));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.param(), "voice");
  EXPECT_NE(wrong.bytes.find("default, anna"), std::string::npos) << wrong.bytes;
  Spoken listed;
  begin({}, listed, "GET", "/v1/audio/voices");
  EXPECT_EQ(listed.bytes, R"({"voices": ["default", "anna"]})");
}

TEST_F(SpeechJobs, ReportWhatIsWrongWithAVoiceOrCodecBeforeTheyAreAsked) {
  const auto error_of = [&](SpeechOptions options) {
    const auto service = make(std::move(options));
    return service ? "" : service.error().message;
  };
  EXPECT_NE(error_of({.voices = {{"anna", {1, 2}}}}).find("The voice anna: "), std::string::npos);
  EXPECT_NE(error_of({.codec = "nowhere"}).find("nowhere"), std::string::npos);
}

TEST_F(SpeechJobs, AreOfModelsThatSpeak) {
  const auto encoder = open_encoder("rerank/cross_bert");
  const PlainAnswer received = response(*encoder, "/v1/audio/speech", R"({"input": "Hello."})");
  EXPECT_EQ(received.status, 400);
  EXPECT_NE(received.json.dump().find("does not speak"), std::string::npos);
}

}  // namespace
}  // namespace tokamak::protocol
