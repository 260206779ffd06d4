// A conversation by voice: whose turn it is. The page has the microphone, the loudspeaker, and the
// models that hear, answer and speak; each of its calls returns what is to be done then.
#include "apps/web/fields.h"
#include "apps/web/host.h"
#include "apps/web/verbs.h"
#include "formats/piecewise_source.h"
#include "talk/talk_loop.h"

namespace tokamak::web {

struct Conversation {
  Conversation(const TalkOptions& options, uint32_t rate) : loop(options, rate) {}

  TalkLoop loop;
  uint32_t pieces = 0;  // of the answer
};

namespace {

using Task = TalkLoop::Task;

constexpr uint64_t kMaxSamples = uint64_t{10} * kSampleRate;  // of a call

Result<Conversation*> begun(State& state) {
  if (state.conversation == nullptr) return fail(ErrorCode::kUsage, "No conversation was begun.");
  return state.conversation.get();
}

/// {task: "listen" | "transcribe" | "answer", idle[, question][, turn: {question, answer,
/// interrupted}]}: a turn that is over comes once.
Json state_json(TalkLoop& loop) {
  constexpr const char* kNames[] = {"listen", "transcribe", "answer"};
  Json out;
  out.set("task", kNames[size_t(loop.task())]).set("idle", loop.is_idle());
  if (loop.task() == Task::kAnswer) out.set("question", loop.question());
  if (auto turn = loop.take_turn()) {
    Json what;
    what.set("question", std::move(turn->question)).set("answer", std::move(turn->answer));
    out.set("turn", what.set("interrupted", turn->is_interrupted));
  }
  return out;
}

}  // namespace

/// {rate, pause, interruptions} -> {}: `rate`, samples of a second of the answers' sound. It takes
/// the place of one that was begun before.
Result<Json> talk_begin(State& state, const Json& options) {
  uint32_t rate = 0;
  TalkOptions how;
  double& pause = how.endpoint.pause_seconds;
  TOK_TRY(Fields(options)
              .take("rate", rate)
              .take("pause", pause)
              .take("interruptions", how.may_interrupt)
              .done());
  if (rate == 0) return fail(ErrorCode::kUsage, "The answers have no rate, samples of a second.");
  if (!(pause >= 0.2 && pause <= 5)) {
    return fail(ErrorCode::kUsage, "\"pause\" is {}, expected 0.2 to 5 seconds.", pause);
  }
  state.conversation = std::make_shared<Conversation>(how, rate);
  return Json(Json::Object{});
}

/// {file, samples, played, id} -> {task, idle, taken, ...}: what the microphone has heard, floats
/// at 16 kHz that the page reads as that file, and how many samples of the answer have been played.
/// `taken` of them are done; the rest comes again once the task is. Where the task becomes to
/// transcribe, the page gets the utterance as the sound with the number `id`.
Result<Json> talk_listen(State& state, const Json& options) {
  uint32_t file = 0, id = 0;
  uint64_t count = 0, played = 0;
  TOK_TRY(Fields(options)
              .take("file", file)
              .take("samples", count)
              .take("played", played)
              .take("id", id)
              .done());
  TOK_TRY(Conversation* const own, begun(state));
  Samples samples(size_t(std::min(count, kMaxSamples)));
  if (!samples.empty()) {
    const auto source = host_file("The sound", count * sizeof(float), file);
    TOK_TRY(source->read(0, std::as_writable_bytes(std::span(samples))));
    TOK_TRY(check_samples(samples, 0));
  }
  TalkLoop& loop = own->loop;
  const Task before = loop.task();
  const size_t taken = loop.listen_on(samples, played);
  if (loop.task() == Task::kTranscribe && before != Task::kTranscribe) play(id, loop.utterance());
  Json out = state_json(loop);
  return out.set("taken", uint64_t(taken));
}

/// {text} -> {task, idle, ...}: that of the utterance, or one that was typed; without one the
/// conversation goes on listening.
Result<Json> talk_heard(State& state, const Json& options) {
  std::string text;
  TOK_TRY(Fields(options).take("text", text).done());
  TOK_TRY(Conversation* const own, begun(state));
  if (own->loop.task() == Task::kAnswer) {
    return fail(ErrorCode::kUsage, "An answer is running, which has to be stopped first.");
  }
  own->loop.heard(text);
  own->pieces = 0;
  return state_json(own->loop);
}

/// {text, piece, samples, end, stop} -> {task, idle, ...}: what there is of the answer: more of its
/// text; the beginning of a piece that is said; more samples of it; that this was all. `stop`:
/// samples that had been played when somebody ended it.
Result<Json> talk_answer(State& state, const Json& options) {
  std::string text;
  std::optional<std::string> piece;
  uint64_t samples = 0;
  bool end = false;
  std::optional<uint64_t> stop;
  TOK_TRY(Fields(options)
              .take("text", text)
              .take("piece", piece)
              .take("samples", samples)
              .take("end", end)
              .take("stop", stop)
              .done());
  TOK_TRY(Conversation* const own, begun(state));
  TalkLoop& loop = own->loop;
  if (loop.task() != Task::kAnswer) return fail(ErrorCode::kUsage, "No answer is running.");
  if (samples > 0 && own->pieces == 0 && !piece) {
    return fail(ErrorCode::kUsage, "The samples are of no piece of the answer.");
  }
  loop.write(text);
  if (piece) ++own->pieces;
  if (piece || samples > 0) loop.say(own->pieces, piece.value_or(""), size_t(samples));
  if (end) loop.end();
  if (stop) loop.stop(*stop);
  return state_json(loop);
}

}  // namespace tokamak::web
