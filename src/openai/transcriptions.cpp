#include "openai/transcriptions.h"

#include <charconv>

#include "audio/decode.h"
#include "openai/multipart.h"
#include "speech/transcriber.h"
#include "speech/transcript_text.h"

namespace tokamak::openai {
namespace {

constexpr std::string_view kJsonType = "application/json";

/// How the transcript is asked for: OpenAI's names of formats.
struct Form {
  TranscribeOptions options;
  std::string_view format = "json";
  std::string_view file;
};

Answer<Form> read(const std::vector<FormPart>& parts, bool translate) {
  Form form;
  form.options.translate = translate;
  const FormPart* const file = find_part(parts, "file");
  if (file == nullptr) return wrong("file", "file is missing, expected a recording.");
  form.file = file->content;
  for (const FormPart& part : parts) {
    if (part.name == "language") form.options.language = part.content;
    if (part.name == "prompt") form.options.prompt = part.content;
    if (part.name == "response_format") form.format = part.content;
    if (part.name == "temperature") {
      const char* const end = part.content.data() + part.content.size();
      const auto read = std::from_chars(part.content.data(), end, form.options.temperature);
      const bool is_number = read.ec == std::errc() && read.ptr == end;
      if (!is_number || !(form.options.temperature >= 0 && form.options.temperature <= 1)) {
        return wrong("temperature", "temperature is {}, expected a number from 0 to 1.",
                     quoted(Json(part.content)));
      }
    }
    if (part.name == "stream" && part.content == "true") {
      return wrong("stream", "stream is true, but transcripts come whole.");
    }
    if (part.name == "timestamp_granularities[]" && part.content != "segment") {
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
  return form;
}

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

}  // namespace

Answer<TypedText> transcribe(Engine& engine, const HttpRequest& request, bool translate,
                             const std::function<Answer<void>(std::string_view)>& check_model) {
  TOK_TRY(const std::vector<FormPart> parts, read_form(request.content_type, request.body));
  const FormPart* const model = find_part(parts, "model");
  TOK_TRY(check_model(model == nullptr ? "" : model->content));
  TOK_TRY(const Form form, read(parts, translate));
  TOK_TRY(Transcriber* const transcriber, answer(engine.transcriber(), "model"));
  TOK_TRY(const Samples samples, answer(decode_sound(std::as_bytes(std::span(form.file))), "file"));
  TOK_TRY(answer(transcriber->begin(form.options, {}), "language"));
  TOK_TRY(answer(transcriber->add(samples)));
  TOK_TRY(const Transcript transcript, answer(transcriber->finish()));
  return written(transcript, form);
}

}  // namespace tokamak::openai
