// The system's microphone and loudspeaker, by PortAudio. Each has a thread that waits for it.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "apps/cli/sound/portaudio_library.h"
#include "apps/cli/sound/sound_line.h"
#include "base/system/terminal.h"
#include "talk/play_queue.h"

namespace tokamak::cli {
namespace {

constexpr double kLatency = 0.06;           // seconds, asked for
constexpr unsigned kMomentsOfASecond = 50;  // that a thread waits for at once

Failure cannot(const PortAudio& api, const char* what, PaError error) {
  return fail(ErrorCode::kDevice, "{}: {}.", what, api.error_text(error));
}

struct Close {
  const PortAudio* api;
  void operator()(PaStream* stream) const { api->close_stream(stream); }
};
using Stream = std::unique_ptr<PaStream, Close>;

PaError initialize(const PortAudio& api) {
  const SilentErrors silent;  // ALSA and JACK write there what they do not find
  return api.initialize();
}

/// PortAudio as a whole, for as long as it lives.
struct Library {
  explicit Library(const PortAudio& functions) : api(functions), status(initialize(functions)) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (status == paNoError) api.terminate();
  }

  const PortAudio& api;
  PaError status;
};

Result<Stream> open_stream(const PortAudio& api, bool is_input, uint32_t rate) {
  const char* const what =
      is_input ? "The microphone cannot be opened" : "The loudspeaker cannot be opened";
  const PaDeviceIndex device = is_input ? api.default_input_device() : api.default_output_device();
  if (device == paNoDevice) {
    return fail(ErrorCode::kDevice, "There is no {}; `--input FILE --output FILE` needs none.",
                is_input ? "microphone" : "loudspeaker");
  }
  const PaStreamParameters parameters = {.device = device,
                                         .channelCount = 1,
                                         .sampleFormat = paFloat32,
                                         .suggestedLatency = kLatency,
                                         .hostApiSpecificStreamInfo = nullptr};
  PaStream* stream = nullptr;
  const PaError opened =
      api.open_stream(&stream, is_input ? &parameters : nullptr, is_input ? nullptr : &parameters,
                      rate, rate / kMomentsOfASecond, paNoFlag, nullptr, nullptr);
  if (opened != paNoError) return cannot(api, what, opened);
  Stream own(stream, Close{&api});
  if (const PaError started = api.start_stream(stream); started != paNoError) {
    return cannot(api, what, started);
  }
  return own;
}

class DeviceLine final : public SoundLine {
 public:
  DeviceLine(std::unique_ptr<Library> library, Stream input, Stream output, uint32_t rate)
      : library_(std::move(library)),
        api_(library_->api),
        input_(std::move(input)),
        output_(std::move(output)),
        rate_(rate),
        queue_(rate),
        latency_(uint64_t(api_.stream_info(output_.get())->outputLatency * rate)),
        listens_([this] { listen(); }),
        plays_([this] { play_on(); }) {}
  DeviceLine(const DeviceLine&) = delete;
  DeviceLine& operator=(const DeviceLine&) = delete;
  ~DeviceLine() override {
    {
      const std::scoped_lock lock(mutex_);
      ends_ = true;
    }
    listens_.join();
    plays_.join();
  }

  Result<Samples> hear(bool waits) override {
    std::unique_lock lock(mutex_);
    // Now and then somebody must look whether there was a Ctrl-C.
    constexpr std::chrono::milliseconds kLongest(50);
    if (waits) arrives_.wait_for(lock, kLongest, [this] { return !heard_.empty() || !status_; });
    TOK_TRY(status_);
    return std::exchange(heard_, {});
  }
  void play(std::span<const float> samples) override {
    const std::scoped_lock lock(mutex_);
    queue_.add(samples);
  }
  void stop() override {
    const std::scoped_lock lock(mutex_);
    queue_.stop();
  }
  uint64_t played() const override {
    const std::scoped_lock lock(mutex_);
    // The last samples of the device are not audible yet, unless only silence came after them.
    if (queue_.is_empty() && silent_ >= latency_) return queue_.played();
    return queue_.played() - std::min(queue_.played(), latency_ - std::min(latency_, silent_));
  }

 private:
  bool has_to_end() const {
    const std::scoped_lock lock(mutex_);
    return ends_ || !status_;
  }
  void fail_with(Failure failure) {
    const std::scoped_lock lock(mutex_);
    if (status_) status_ = std::move(failure);
    arrives_.notify_one();
  }
  void listen() {
    Samples moment(kSampleRate / kMomentsOfASecond);
    while (!has_to_end()) {
      const PaError error = api_.read_stream(input_.get(), moment.data(), moment.size());
      if (error != paNoError && error != paInputOverflowed) {
        return fail_with(cannot(api_, "The microphone has stopped", error));
      }
      const std::scoped_lock lock(mutex_);
      heard_.insert(heard_.end(), moment.begin(), moment.end());
      arrives_.notify_one();
    }
  }
  void play_on() {
    std::vector<float> moment(rate_ / kMomentsOfASecond);
    while (!has_to_end()) {
      {
        const std::scoped_lock lock(mutex_);
        silent_ = queue_.is_empty() ? silent_ + moment.size() : 0;
        queue_.take(moment);
      }
      const PaError error = api_.write_stream(output_.get(), moment.data(), moment.size());
      if (error != paNoError && error != paOutputUnderflowed) {
        return fail_with(cannot(api_, "The loudspeaker has stopped", error));
      }
    }
  }

  std::unique_ptr<Library> library_;  // closes after the streams
  const PortAudio& api_;
  Stream input_, output_;
  uint32_t rate_;
  mutable std::mutex mutex_;
  std::condition_variable arrives_;
  Samples heard_;
  PlayQueue queue_;
  uint64_t latency_, silent_ = 0;  // samples
  Result<void> status_;
  bool ends_ = false;
  std::thread listens_, plays_;  // the last: they use the others
};

}  // namespace

Result<std::unique_ptr<SoundLine>> open_device_line(uint32_t rate) {
  TOK_TRY(const PortAudio* const api, portaudio());
  auto library = std::make_unique<Library>(*api);
  if (library->status != paNoError) return cannot(*api, "There is no sound", library->status);
  TOK_TRY(Stream input, open_stream(*api, true, kSampleRate));
  TOK_TRY(Stream output, open_stream(*api, false, rate));
  return std::make_unique<DeviceLine>(std::move(library), std::move(input), std::move(output),
                                      rate);
}

}  // namespace tokamak::cli
