#include "apps/cli/sound/talk_session.h"

#include <algorithm>
#include <utility>

#include "apps/cli/line/terminal.h"
#include "engine/requests/text_request.h"

namespace tokamak::cli {

Result<void> TalkSession::run() {
  while (!interrupted() && !(parts_.line.has_ended() && loop_.is_idle())) {
    switch (loop_.task()) {
      case Task::kListen:
        TOK_TRY(pass_time(true));
        break;
      case Task::kTranscribe:
        TOK_TRY(transcribe());
        break;
      case Task::kAnswer:
        TOK_TRY(answer());
        break;
    }
  }
  return parts_.line.finish();
}

Result<void> TalkSession::pass_time(bool waits) {
  if (heard_.empty()) {
    TOK_TRY(heard_, parts_.line.hear(waits));
  }
  const size_t done = loop_.listen_on(heard_, parts_.line.played());
  heard_.erase(heard_.begin(), heard_.begin() + ptrdiff_t(done));
  return {};
}

bool TalkSession::must_stop(Task task) {
  if (status_) status_ = pass_time(false);
  if (status_ && loop_.task() == Task::kAnswer) status_ = write_more();
  return !status_ || loop_.task() != task || interrupted();
}

Result<void> TalkSession::transcribe() {
  const auto transcript = [&]() -> Result<Transcript> {
    TOK_TRY(parts_.ears.begin(parts_.hearing,
                              {.cancelled = [this] { return must_stop(Task::kTranscribe); }}));
    TOK_TRY(parts_.ears.add(loop_.utterance()));
    return parts_.ears.finish();
  }();
  TOK_TRY(status_);
  if (loop_.task() != Task::kTranscribe || interrupted()) return {};
  if (!transcript) return Failure(transcript.error());
  loop_.heard(transcript->text);
  return {};
}

Result<void> TalkSession::answer() {
  TOK_TRY(parts_.show("> " + loop_.question() + "\n"));
  conversation_.ask({loop_.question()});
  writing_ = {};
  TOK_TRY(writing_.scheduler, parts_.chat.scheduler());
  Request request = {.prompt = {}, .images = {}, .params = parts_.generation};
  TOK_TRY(ThinkingPrompt own, fitting_prompt());
  TOK_TRY(const Tokenizer* tokenizer, parts_.chat.tokenizer());
  request.prompt = std::move(own.prompt.ids);
  writing_.reader =
      std::make_unique<AnswerReader>(*tokenizer, std::move(own.form), parts_.reasoning.marks(),
                                     std::exchange(request.params.stop, {}),
                                     request.params.end_ids.value_or(std::vector<uint32_t>()),
                                     [this](bool is_reasoning, std::string_view text) {
                                       if (is_reasoning) return;
                                       loop_.write(text);
                                       writing_.unsaid += text;
                                     });
  request.callbacks.token = [this](uint32_t id, const Logprobs*) { writing_.reader->take(id); };
  request.callbacks.cancelled = [this] { return writing_.reader->has_stopped(); };
  request.done = [this](Result<Generation> result) {
    writing_.reader->finish();
    writing_.result = std::move(result);
  };
  TOK_TRY(const RequestId id, writing_.scheduler->add(std::move(request)));
  TOK_TRY(parts_.mouth.begin(parts_.speaking));
  parts_.line.stop();  // it counts from here on
  bool has_more = true;
  while (loop_.task() == Task::kAnswer && !interrupted()) {
    TOK_TRY(write_more());
    if (has_more) {
      TOK_TRY(has_more, speak_next());
    }
    if (loop_.task() == Task::kAnswer) TOK_TRY(pass_time(!has_more));
  }
  return end_answer(id);
}

Result<ThinkingPrompt> TalkSession::fitting_prompt() {
  const uint32_t context = parts_.chat.compiled().context;
  const uint32_t room = std::min(parts_.generation.max_tokens, context / 4);
  for (;;) {
    TOK_TRY(ThinkingPrompt own, parts_.reasoning.prompt(conversation_.variables(),
                                                        parts_.template_variables, parts_.think));
    const bool fits = own.prompt.ids.size() + room <= context;
    if (fits || !conversation_.forget_oldest()) return own;
  }
}

Result<void> TalkSession::write_more() {
  if (writing_.result) return {};
  TOK_TRY(writing_.scheduler->step());
  TOK_TRY(writing_.scheduler->wait());
  if (writing_.result && !*writing_.result) return Failure(writing_.result->error());
  return {};
}

Result<bool> TalkSession::speak_next() {
  Narrator& mouth = parts_.mouth;
  mouth.add(std::exchange(writing_.unsaid, {}));
  const bool is_all = writing_.result.has_value();
  if (is_all) mouth.end_text();
  const uint32_t pieces = mouth.narration().pieces;
  const auto samples = mouth.next([this] { return must_stop(Task::kAnswer); });
  TOK_TRY(status_);
  if (loop_.task() != Task::kAnswer || interrupted()) return false;
  // An answer may have nothing that can be said.
  const bool is_silent = !samples && is_all && mouth.narration().pieces == 0;
  if (!samples && !is_silent) return Failure(samples.error());
  if (is_silent || !*samples) {
    loop_.end();
    return false;
  }
  if ((*samples)->empty()) return true;
  parts_.line.play(**samples);
  loop_.say(mouth.narration().pieces, mouth.piece(), (*samples)->size());
  if (mouth.narration().pieces > pieces) TOK_TRY(parts_.show(mouth.piece() + " "));
  return true;
}

Result<void> TalkSession::end_answer(RequestId id) {
  if (loop_.task() == Task::kAnswer) loop_.stop(parts_.line.played());  // a Ctrl-C
  parts_.line.stop();
  writing_.scheduler->cancel(id);
  TOK_TRY(writing_.scheduler->run());
  const auto turn = loop_.take_turn();
  if (turn && !turn->answer.empty()) conversation_.answer(turn->answer);
  const bool is_whole = turn && !turn->is_interrupted;
  return parts_.show(is_whole ? "\n" : "[interrupted]\n");
}

}  // namespace tokamak::cli
