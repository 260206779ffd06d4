#include "protocol/jobs/transcriptions.h"

#include <charconv>

#include "audio/decode.h"
#include "base/ascii.h"
#include "engine/sound.h"
#include "protocol/jobs/model_use.h"
#include "protocol/requests/multipart.h"
#include "speech/transcriber.h"
#include "speech/transcript_text.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kJsonType = "application/json";

/// How the transcript is asked for: OpenAI's names of formats.
struct Form {
  TranscribeOptions options;
  std::string format = "json";
  bool streams = false;
};

Answer<Form> read(const std::vector<FormPart>& parts, bool translate) {
  Form form;
  form.options.translate = translate;
  for (const FormPart& part : parts) {
    // "name[]" and "name[0]" are lists; a field without a value is as if it were not there.
    const std::string name = part.name.substr(0, part.name.find('['));
    if (part.content.empty()) continue;
    if (name == "language") form.options.language = part.content;
    if (name == "prompt") form.options.prompt = part.content;
    if (name == "response_format") form.format = part.content;
    if (name == "temperature") {
      const char* const end = part.content.data() + part.content.size();
      const auto read = std::from_chars(part.content.data(), end, form.options.temperature);
      const bool is_number = read.ec == std::errc() && read.ptr == end;
      if (!is_number || !(form.options.temperature >= 0 && form.options.temperature <= 1)) {
        return wrong("temperature", "temperature is {}, expected a number from 0 to 1.",
                     quoted(Json(part.content)));
      }
    }
    if (name == "stream") form.streams = ascii_lower(part.content) == "true" || part.content == "1";
    if (name == "include") {
      return wrong("include", "include has {}, but this server has none of it: leave it out.",
                   quoted(Json(part.content)));
    }
    if (name == "timestamp_granularities" && part.content != "segment") {
      return wrong("timestamp_granularities", "timestamp_granularities has {}, expected segment.",
                   quoted(Json(part.content)));
    }
  }
  constexpr std::string_view kFormats[] = {"json", "text", "srt", "vtt", "verbose_json"};
  if (std::ranges::find(kFormats, form.format) == std::end(kFormats)) {
    return wrong("response_format",
                 "response_format is {}, expected json, text, srt, vtt or verbose_json.",
                 quoted(Json(form.format)));
  }
  if (form.streams && form.format != "json" && form.format != "text") {
    return wrong("stream", "stream is true, but {} comes whole; json and text are streamed.",
                 form.format);
  }
  return form;
}

struct TypedText {
  std::string content_type, text;
};

TypedText written(const Transcript& transcript, const Form& form) {
  if (form.format == "json") {
    return {std::string(kJsonType), Json(Json::Object{{"text", transcript.text}}).dump()};
  }
  if (form.format == "verbose_json") {
    Json json = transcript_json(transcript);
    json.set("task", form.options.translate ? "translate" : "transcribe");
    return {std::string(kJsonType), json.dump()};
  }
  const TranscriptFormat format = *transcript_format(form.format);
  return {
      format == TranscriptFormat::kVtt ? "text/vtt; charset=utf-8" : "text/plain; charset=utf-8",
      transcript_text(transcript, format)};
}

class TranscriptionJob final : public Job {
 public:
  TranscriptionJob(Engine& engine, Form form, Samples samples, ByteBudget::Lease lease)
      : engine_(engine),
        form_(std::move(form)),
        samples_(std::move(samples)),
        lease_(std::move(lease)) {}

 private:
  Answer<bool> next() override {
    if (transcriber_ == nullptr) TOK_TRY(open());
    TOK_TRY(const bool continues, answer(transcriber_->step()));
    if (continues) return true;
    TOK_TRY(const Transcript transcript, answer(transcriber_->finish()));
    if (form_.streams) {
      event(Json(Json::Object{{"type", "transcript.text.done"}, {"text", transcript.text}}));
    } else {
      const TypedText whole = written(transcript, form_);
      begin(whole.content_type);
      write(whole.text);
    }
    return false;
  }

  Answer<void> open() {
    TOK_TRY(transcriber_, answer(make_transcriber(engine_), "model"));
    TranscribeCallbacks callbacks{.segment = {}, .cancelled = cancelled()};
    if (form_.streams) callbacks.segment = [this](const Segment& one) { show(one.text); };
    TOK_TRY(answer(transcriber_->begin(form_.options, callbacks), "language"));
    transcriber_->put(std::move(samples_));
    return {};
  }

  /// Sends a part of the whole text, which does not begin with a space.
  void show(std::string_view text) {
    if (!has_text_) text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return;
    has_text_ = true;
    event(Json(Json::Object{{"type", "transcript.text.delta"}, {"delta", text}}));
  }

  Engine& engine_;
  Form form_;
  Samples samples_;          // until the first step
  ByteBudget::Lease lease_;  // of their bytes
  std::unique_ptr<Transcriber> transcriber_;
  bool has_text_ = false;
};

}  // namespace

Answer<std::unique_ptr<Job>> make_transcription_job(
    Engine& engine, ByteBudget& decoded, const HttpRequest& request, bool translate,
    const std::function<Answer<void>(std::string_view)>& check_model) {
  TOK_TRY(const std::vector<FormPart> parts, read_form(request.content_type, request.body));
  const FormPart* const model = find_part(parts, "model");
  TOK_TRY(check_model(model == nullptr ? "" : model->content));
  const FormPart* const file = find_part(parts, "file");
  if (file == nullptr) return wrong("file", "file is missing, expected a recording.");
  TOK_TRY(Form form, read(parts, translate));
  TOK_TRY(check_use(engine, Task::kSpeech));
  TOK_TRY(Samples samples, answer(decode_sound(std::as_bytes(std::span(file->content))), "file"));
  TOK_TRY(auto lease, lease_of(decoded, samples.size() * sizeof(float)));
  return std::make_unique<TranscriptionJob>(engine, std::move(form), std::move(samples),
                                            std::move(lease));
}

}  // namespace tokamak::protocol
