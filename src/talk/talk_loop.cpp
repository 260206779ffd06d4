#include "talk/talk_loop.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"

namespace tokamak {

void TalkLoop::listen(std::span<const float> sound, uint64_t played) {
  const bool is_answer = task_ == Task::kAnswer;
  if (!is_answer || options_.may_interrupt) endpointer_.add(sound);
  if (is_answer) return listen_to_answer(played);
  if (auto more = endpointer_.take()) {
    utterance_.insert(utterance_.end(), more->begin(), more->end());
    task_ = Task::kTranscribe;
  } else if (task_ == Task::kTranscribe && endpointer_.is_in_utterance()) {
    task_ = Task::kListen;  // to the rest
  }
}

size_t TalkLoop::listen_on(std::span<const float> sound, uint64_t played) {
  const Task task = task_;
  size_t done = 0;
  do {
    const size_t count = std::min(VoiceDetector::kFrame, sound.size() - done);
    listen(sound.subspan(done, count), played);
    done += count;
  } while (done < sound.size() && task_ == task);
  return done;
}

void TalkLoop::listen_to_answer(uint64_t played) {
  const bool is_interrupted =
      endpointer_.is_in_utterance() && endpointer_.voiced_seconds() >= options_.interrupt_seconds;
  const bool is_over = answer_.has_ended() && played >= answer_.samples();
  if (is_interrupted || is_over) return stop(played);
  endpointer_.take();  // too short for an interruption
}

void TalkLoop::stop(uint64_t played) {
  TOK_CHECK(task_ == Task::kAnswer);
  std::string heard = answer_.heard(played);
  const bool is_interrupted = !answer_.has_ended() || played < answer_.samples();
  if (!heard.empty() || !is_interrupted) {
    turn_ = TalkTurn{std::exchange(question_, {}), std::move(heard), is_interrupted};
  }
  utterance_.clear();
  task_ = Task::kListen;
}

void TalkLoop::heard(std::string_view text) {
  TOK_CHECK(task_ != Task::kAnswer);
  text = trimmed(text);
  utterance_.clear();
  task_ = Task::kListen;
  if (text.empty()) return;
  question_ += (question_.empty() ? "" : " ") + std::string(text);
  answer_ = SpokenAnswer(rate_);
  if (!options_.may_interrupt) endpointer_.forget();
  task_ = Task::kAnswer;
}

std::optional<TalkTurn> TalkLoop::take_turn() {
  return std::exchange(turn_, std::nullopt);
}

}  // namespace tokamak
