// The system's microphone and loudspeaker, by PortAudio.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "apps/cli/line/terminal.h"
#include "apps/cli/sound/portaudio_library.h"
#include "apps/cli/sound/sound_devices.h"
#include "base/system/terminal.h"
#include "talk/play_queue.h"

namespace tokamak::cli {
namespace {

constexpr double kLatency = 0.06;           // seconds, asked for
constexpr unsigned kMomentsOfASecond = 50;  // that a thread waits for at once
// Now and then somebody must look whether there was a Ctrl-C.
constexpr std::chrono::milliseconds kLongestWait(50);

Failure cannot(const PortAudio& api, const char* what, PaError error) {
  return fail(ErrorCode::kDevice, "{}: {}.", what, api.error_text(error));
}

PaError initialize(const PortAudio& api) {
  const SilentErrors silent;  // ALSA and JACK write there what they do not find
  return api.initialize();
}

/// A stream of the default device, and PortAudio for as long as it lives.
class Stream {
 public:
  static Result<std::unique_ptr<Stream>> open(bool is_input, uint32_t rate) {
    TOK_TRY(const PortAudio* const api, portaudio());
    std::unique_ptr<Stream> own(new Stream(*api));
    if (own->status_ != paNoError) return cannot(*api, "There is no sound", own->status_);
    TOK_TRY(own->start(is_input, rate));
    return own;
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (stream_ != nullptr) api_.close_stream(stream_);
    if (status_ == paNoError) api_.terminate();
  }

  /// Fills `samples`. Errors: the device has stopped.
  Result<void> read(std::span<float> samples) {
    const PaError error = api_.read_stream(stream_, samples.data(), samples.size());
    if (error == paNoError || error == paInputOverflowed) return {};
    return cannot(api_, "The microphone has stopped", error);
  }
  Result<void> write(std::span<const float> samples) {
    const PaError error = api_.write_stream(stream_, samples.data(), samples.size());
    if (error == paNoError || error == paOutputUnderflowed) return {};
    return cannot(api_, "The loudspeaker has stopped", error);
  }
  /// Seconds from a sample's write() until it is audible.
  double output_latency() const { return api_.stream_info(stream_)->outputLatency; }

 private:
  explicit Stream(const PortAudio& api) : api_(api), status_(initialize(api)) {}

  Result<void> start(bool is_input, uint32_t rate) {
    const PaDeviceIndex device =
        is_input ? api_.default_input_device() : api_.default_output_device();
    if (device == paNoDevice) {
      return fail(ErrorCode::kDevice, "There is no {}; {}.",
                  is_input ? "microphone" : "loudspeaker",
                  is_input ? "name a recording instead, for talk by --input"
                           : "name a file for the sound instead, by --output");
    }
    const PaStreamParameters parameters = {.device = device,
                                           .channelCount = 1,
                                           .sampleFormat = paFloat32,
                                           .suggestedLatency = kLatency,
                                           .hostApiSpecificStreamInfo = nullptr};
    const PaError opened = api_.open_stream(&stream_, is_input ? &parameters : nullptr,
                                            is_input ? nullptr : &parameters, rate,
                                            rate / kMomentsOfASecond, paNoFlag, nullptr, nullptr);
    const char* const what =
        is_input ? "The microphone cannot be opened" : "The loudspeaker cannot be opened";
    if (opened != paNoError) return cannot(api_, what, opened);
    const PaError started = api_.start_stream(stream_);
    if (started != paNoError) return cannot(api_, what, started);
    return {};
  }

  const PortAudio& api_;
  PaError status_;  // of its start
  PaStream* stream_ = nullptr;
};

class DeviceMicrophone final : public Microphone {
 public:
  explicit DeviceMicrophone(std::unique_ptr<Stream> stream)
      : stream_(std::move(stream)),
        listens_([this](const std::stop_token& ends) { listen(ends); }) {}

  Result<Samples> read(bool waits) override {
    std::unique_lock lock(mutex_);
    if (waits) {
      arrives_.wait_for(lock, kLongestWait, [this] { return !heard_.empty() || !status_; });
    }
    TOK_TRY(status_);
    return std::exchange(heard_, {});
  }

 private:
  void listen(const std::stop_token& ends) {
    Samples moment(kSampleRate / kMomentsOfASecond);
    while (!ends.stop_requested()) {
      Result<void> read = stream_->read(moment);
      const std::scoped_lock lock(mutex_);
      if (read) {
        heard_.insert(heard_.end(), moment.begin(), moment.end());
      } else {
        status_ = std::move(read);
      }
      arrives_.notify_one();
      if (!status_) return;
    }
  }

  std::unique_ptr<Stream> stream_;
  std::mutex mutex_;
  std::condition_variable arrives_;
  Samples heard_;
  Result<void> status_;
  std::jthread listens_;  // the last: it uses the others
};

class DeviceLoudspeaker final : public Loudspeaker {
 public:
  DeviceLoudspeaker(std::unique_ptr<Stream> stream, uint32_t rate)
      : stream_(std::move(stream)),
        rate_(rate),
        queue_(rate),
        latency_(uint64_t(stream_->output_latency() * rate)),
        plays_([this](const std::stop_token& ends) { play_on(ends); }) {}

  void add(std::span<const float> samples) override {
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
    return queue_.played() - std::min(queue_.played(), silent());
  }
  Result<void> status() const override {
    const std::scoped_lock lock(mutex_);
    return status_;
  }
  Result<void> wait(double seconds_left) override {
    const auto most = uint64_t(seconds_left * rate_);
    std::unique_lock lock(mutex_);
    while (status_ && !interrupted() && queue_.size() + silent() > most) {
      moves_.wait_for(lock, kLongestWait);
    }
    return status_;
  }

 private:
  /// Samples that the device has and that are not audible yet. REQUIRES: the lock.
  uint64_t silent() const { return latency_ - std::min(latency_, silence_); }

  void play_on(const std::stop_token& ends) {
    std::vector<float> moment(rate_ / kMomentsOfASecond);
    while (!ends.stop_requested()) {
      {
        const std::scoped_lock lock(mutex_);
        silence_ = queue_.is_empty() ? silence_ + moment.size() : 0;
        queue_.take(moment);
      }
      Result<void> written = stream_->write(moment);
      moves_.notify_one();
      if (written) continue;
      const std::scoped_lock lock(mutex_);
      status_ = std::move(written);
      return;
    }
  }

  std::unique_ptr<Stream> stream_;
  uint32_t rate_;
  mutable std::mutex mutex_;
  std::condition_variable moves_;
  PlayQueue queue_;
  uint64_t latency_, silence_ = latency_;  // samples
  Result<void> status_;
  std::jthread plays_;  // the last: it uses the others
};

}  // namespace

Result<std::unique_ptr<Microphone>> open_microphone() {
  TOK_TRY(auto stream, Stream::open(true, kSampleRate));
  return std::make_unique<DeviceMicrophone>(std::move(stream));
}

Result<std::unique_ptr<Loudspeaker>> open_loudspeaker(uint32_t rate) {
  TOK_TRY(auto stream, Stream::open(false, rate));
  return std::make_unique<DeviceLoudspeaker>(std::move(stream), rate);
}

}  // namespace tokamak::cli
