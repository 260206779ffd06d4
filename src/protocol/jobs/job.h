// Job: a request that is no text of the scheduler's: speech, a transcript, embeddings, a ranking.
// The engine works on it in steps, between those of texts and of other jobs.
#pragma once
#include <vector>

#include "protocol/requests/api_error.h"
#include "protocol/requests/sink.h"

namespace tokamak::protocol {

class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;

  /// `dialect`: of its errors; `random` counts where the request has no seed. REQUIRES: called
  /// once, before step().
  void start(Sink sink, Dialect dialect, uint64_t random) {
    sink_ = std::move(sink);
    dialect_ = dialect;
    random_ = random;
  }
  /// Does what comes next, a second or two of a slow device's work; false: the answer has ended.
  bool step();
  /// Ends the answer with an error, as an event where it is a stream that has begun.
  void fail(const ApiError& error);
  /// Whether other jobs may run before the next step: the device holds nothing of it.
  virtual bool may_pause() const { return true; }

 protected:
  /// Whether more is to come after what it has written.
  virtual Answer<bool> next() = 0;

  void begin(std::string_view content_type);
  void write(std::string_view bytes) { sink_.write(bytes); }
  /// Writes `json` as an event of a stream.
  void event(const Json& json);
  uint64_t random() const { return random_; }
  /// For the engine's calls, which look at it between steps of the device.
  const std::function<bool()>& cancelled() const { return sink_.is_cancelled; }

 private:
  Sink sink_;
  Dialect dialect_ = Dialect::kOpenAi;
  uint64_t random_ = 0;
  bool has_begun_ = false, is_events_ = false;
};

/// The end of the texts that a step works on, `first` the first of them: as many as have `most`
/// tokens together, but at least one. `tokens` counts those of a text.
template <typename Text, typename Count>
size_t end_of_step(const std::vector<Text>& texts, size_t first, size_t most, const Count& tokens) {
  size_t all = 0, end = first;
  while (end < texts.size() && (end == first || all + tokens(texts[end]) <= most)) {
    all += tokens(texts[end++]);
  }
  return end;
}

}  // namespace tokamak::protocol
