// TalkLoop: whose turn it is in a spoken conversation. It has no models, no devices and no clock:
// whoever has them gives it what the microphone hears, does its task, and says what came of it.
//
//   kListen      somebody may speak; when they pause there is an utterance
//   kTranscribe  its text is wanted: heard(). They may go on meanwhile: then it was not all yet
//   kAnswer      the question wants an answer: write(), say(), end(). It is over when all of it
//                has been played, or when somebody speaks for a moment: what they have not heard
//                then was not said
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "talk/endpointer.h"
#include "talk/spoken_answer.h"

namespace tokamak {

struct TalkOptions {
  EndpointOptions endpoint;
  bool may_interrupt = true;       // false: nothing is heard while there is an answer
  double interrupt_seconds = 0.2;  // of a voice, so that "mhm" does not
};

/// A question and as much of the answer as was heard.
struct TalkTurn {
  std::string question, answer;
  bool is_interrupted = false;
};

class TalkLoop {
 public:
  enum class Task : uint8_t { kListen, kTranscribe, kAnswer };

  /// `rate`: of the answers' sound.
  TalkLoop(const TalkOptions& options, uint32_t rate)
      : options_(options), rate_(rate), endpointer_(options.endpoint), answer_(rate) {}

  Task task() const { return task_; }
  /// Takes the microphone's sound since the last call, at most half a second of it, and how many
  /// samples of the answer have been played by now.
  void listen(std::span<const float> sound, uint64_t played);
  /// The same frame by frame, any length, up to where there is something else to do: how many
  /// samples that took.
  size_t listen_on(std::span<const float> sound, uint64_t played);
  /// Whether nobody speaks and nothing is to be done.
  bool is_idle() const { return task_ == Task::kListen && !endpointer_.is_in_utterance(); }

  /// REQUIRES: kTranscribe.
  const Samples& utterance() const { return utterance_; }
  /// Its text, or one that was not spoken; without one the loop goes on listening. REQUIRES: not
  /// kAnswer.
  void heard(std::string_view text);

  /// REQUIRES for these: kAnswer. SpokenAnswer says what they mean.
  const std::string& question() const { return question_; }
  void write(std::string_view text) { answer_.write(text); }
  void say(uint32_t number, std::string_view piece, size_t samples) {
    answer_.say(number, piece, samples);
  }
  void end() { answer_.end(); }
  /// Ends the answer where it is, as an interruption does.
  void stop(uint64_t played);

  /// The turn that is over since the last call. None of an answer of which nothing was heard: its
  /// question becomes the beginning of the next one.
  std::optional<TalkTurn> take_turn();

 private:
  void listen_to_answer(uint64_t played);

  TalkOptions options_;
  uint32_t rate_;
  Endpointer endpointer_;
  Task task_ = Task::kListen;
  Samples utterance_;
  std::string question_;
  SpokenAnswer answer_;
  std::optional<TalkTurn> turn_;
};

}  // namespace tokamak
