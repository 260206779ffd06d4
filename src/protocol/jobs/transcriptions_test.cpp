#include <fstream>

#include "protocol/service/plain_fixture_test.h"

namespace tokamak::protocol {
namespace {

struct Heard {
  int status = 0;
  std::string type, text;

  Json json() const {
    auto parsed = Json::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *std::move(parsed) : Json();
  }
};

using Form = std::vector<std::pair<std::string, std::string>>;

HttpRequest request_of(const Form& form, std::string_view path = "/v1/audio/transcriptions",
                       std::string type = "multipart/form-data; boundary=b") {
  std::string body;
  for (const auto& [name, value] : form) {
    body += "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
  }
  HttpRequest request = {.method = "POST", .path = std::string(path), .body = body + "--b--\r\n"};
  request.content_type = std::move(type);
  return request;
}

Heard ask(Engine& engine, const Form& form, std::string_view path = "/v1/audio/transcriptions",
          std::string type = "multipart/form-data; boundary=b") {
  const HttpRequest request = request_of(form, path, std::move(type));
  auto service = Service::make(
      engine, {.model = "m", .unix_seconds = [] { return 0; }, .random = [] { return 4u; }});
  EXPECT_TRUE(service) << service.error().message;
  Heard heard;
  (*service)->begin(request, {.begin =
                                  [&](int status, std::string_view content_type) {
                                    heard.status = status;
                                    heard.type = content_type;
                                  },
                              .write = [&](std::string_view more) { heard.text += more; },
                              .end = [] {}});
  while ((*service)->has_jobs()) (*service)->run_job();
  return heard;
}

Engine& moonshine() {
  static const std::unique_ptr<Engine> kEngine = open_encoder("speech/moonshine");
  return *kEngine;
}

std::string recording() {
  std::ifstream file(TOKAMAK_TEST_DATA "/speech/moonshine/audio0.wav", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Transcriptions, ComeInTheFormatThatIsAskedFor) {
  const Heard json = ask(moonshine(), {{"model", "m"}, {"file", recording()}});
  ASSERT_EQ(json.status, 200) << json.text;
  EXPECT_EQ(json.type, "application/json");
  EXPECT_TRUE(json.json().find("text")->is_string());
  const Heard verbose =
      ask(moonshine(), {{"file", recording()}, {"response_format", "verbose_json"}});
  EXPECT_EQ(verbose.json().find("duration")->as_number(), 1);
  EXPECT_EQ(*verbose.json().find("task"), Json("transcribe"));
  EXPECT_GT(verbose.json().find("segments")->as_array()[0].find("tokens")->as_array().size(), 10u);
  const Heard srt = ask(moonshine(), {{"file", recording()}, {"response_format", "srt"}});
  EXPECT_EQ(srt.type, "text/plain; charset=utf-8");
  EXPECT_TRUE(srt.text.starts_with("1\n00:00:00,000 --> 00:00:01,000\n")) << srt.text;
  const Heard vtt = ask(moonshine(), {{"file", recording()}, {"response_format", "vtt"}});
  EXPECT_TRUE(vtt.text.starts_with("WEBVTT\n")) << vtt.text;
  EXPECT_EQ(vtt.type, "text/vtt; charset=utf-8");
  EXPECT_EQ(ask(moonshine(), {{"file", recording()}, {"response_format", "text"}}).status, 200);
}

TEST(Transcriptions, FieldsAreSpelledAsProgramsDo) {
  const Heard heard = ask(moonshine(), {{"file", recording()},
                                        {"language", ""},
                                        {"temperature", ""},
                                        {"response_format", ""},
                                        {"timestamp_granularities", "segment"},
                                        {"timestamp_granularities[0]", "segment"},
                                        {"chunking_strategy", "auto"}});
  EXPECT_EQ(heard.status, 200) << heard.text;
  EXPECT_EQ(ask(moonshine(), {{"file", recording()}, {"include[]", "logprobs"}}).status, 400);
}

/// The recording that many times, each followed by a pause.
std::string long_recording(int times) {
  const std::string once = recording();
  std::string sound = once.substr(0, 44);
  for (int i = 0; i < times; ++i) sound += once.substr(44) + std::string(32000, '\0');
  const auto put = [&](size_t at, size_t value) {
    for (size_t i = 0; i < 4; ++i) sound[at + i] = char(value >> (8 * i) & 255);
  };
  put(4, sound.size() - 8);
  put(40, sound.size() - 44);
  return sound;
}

struct Listening {
  ExchangeId begin(const Form& form, Heard& heard, std::function<bool()> is_cancelled = {}) {
    return service->begin(request_of(form),
                          {.begin =
                               [&](int status, std::string_view type) {
                                 heard.status = status;
                                 heard.type = type;
                               },
                           .write = [&](std::string_view text) { heard.text += text; },
                           .end = [] {},
                           .is_cancelled = std::move(is_cancelled)});
  }
  int run() {
    int steps = 0;
    for (; service->has_jobs(); ++steps) service->run_job();
    return steps;
  }

  std::unique_ptr<Service> service = *Service::make(
      moonshine(), {.model = "m", .unix_seconds = [] { return 0; }, .random = [] { return 4u; }});
};

TEST(Transcriptions, AreWrittenInStepsBetweenThoseOfOthers) {
  Listening service;
  Heard longer, shorter;
  service.begin({{"file", long_recording(10)}}, longer);
  service.begin({{"file", recording()}}, shorter);
  service.service->run_job();
  EXPECT_EQ(longer.status, 0);
  service.service->run_job();
  service.service->run_job();
  EXPECT_EQ(shorter.status, 200);
  EXPECT_EQ(longer.status, 0) << "the short one did not wait for its end";
  EXPECT_GE(service.run(), 2);
  EXPECT_EQ(longer.json(), ask(moonshine(), {{"file", long_recording(10)}}).json());
  EXPECT_EQ(shorter.json(), ask(moonshine(), {{"file", recording()}}).json());
}

TEST(Transcriptions, EndWithinAStepWhenNobodyWaitsForThem) {
  Listening service;
  Heard gone, stopped;
  int looks = 0;
  service.begin({{"file", long_recording(10)}}, stopped, [&] { return ++looks > 3; });
  EXPECT_EQ(service.run(), 1) << "it looks between two tokens";
  EXPECT_EQ(stopped.status, 503);
  const ExchangeId id = service.begin({{"file", long_recording(10)}}, gone);
  service.service->run_job();
  service.service->cancel(id);
  EXPECT_EQ(service.run(), 0);
  EXPECT_EQ(gone.status, 0);
}

TEST(Transcriptions, ComeInEventsToo) {
  const Heard whole = ask(moonshine(), {{"file", long_recording(3)}});
  const Heard heard = ask(moonshine(), {{"file", long_recording(3)}, {"stream", "true"}});
  EXPECT_EQ(heard.type, "text/event-stream; charset=utf-8");
  std::string all, last;
  size_t deltas = 0;
  for (size_t at = 0; (at = heard.text.find("data: ", at)) != heard.text.npos; ++at) {
    const size_t begin = at + 6;
    const auto event = Json::parse(heard.text.substr(begin, heard.text.find("\n\n", at) - begin));
    ASSERT_TRUE(event) << heard.text;
    if (const Json* delta = event->find("delta")) {
      EXPECT_EQ(*event->find("type"), Json("transcript.text.delta"));
      all += delta->as_string();
      ++deltas;
    } else {
      EXPECT_EQ(*event->find("type"), Json("transcript.text.done"));
      last = event->find("text")->as_string();
    }
  }
  EXPECT_EQ(last, whole.json().find("text")->as_string());
  EXPECT_EQ(all, last);
  EXPECT_EQ(deltas > 0, !last.empty());
}

TEST(Transcriptions, ReportWhatIsWrongWithTheForm) {
  const std::string sound = recording();
  const std::pair<Form, const char*> cases[] = {
      {{{"model", "m"}}, "file"},
      {{{"file", "no sound"}}, "file"},
      {{{"file", sound.substr(0, 1000)}}, "file"},
      {{{"file", sound}, {"response_format", "doc"}}, "response_format"},
      {{{"file", sound}, {"temperature", "2"}}, "temperature"},
      {{{"file", sound}, {"temperature", "warm"}}, "temperature"},
      {{{"file", sound}, {"stream", "true"}, {"response_format", "srt"}}, "stream"},
      {{{"file", sound}, {"timestamp_granularities[]", "word"}}, "timestamp_granularities"},
      {{{"file", sound}, {"language", "de"}}, "language"},
  };
  for (const auto& [form, param] : cases) {
    const Heard heard = ask(moonshine(), form);
    EXPECT_EQ(heard.status, 400) << param << ": " << heard.text;
    EXPECT_EQ(*heard.json().find("error")->find("param"), Json(param));
  }
  EXPECT_EQ(ask(moonshine(), {{"file", sound}, {"model", "other"}}).status, 404);
  EXPECT_EQ(ask(moonshine(), {}, "/v1/audio/transcriptions", "application/json").status, 415);
  EXPECT_EQ(ask(moonshine(), {{"file", sound}}, "/v1/audio/translations").status, 400)
      << "it has one language";
}

TEST(Transcriptions, AreOfModelsThatHear) {
  const auto encoder = open_encoder("rerank/cross_bert");
  const Heard heard = ask(*encoder, {{"file", recording()}});
  EXPECT_EQ(heard.status, 400);
  EXPECT_NE(heard.text.find("does not hear"), std::string::npos) << heard.text;
}

}  // namespace
}  // namespace tokamak::protocol
