#include "apps/cli/sound/sound_line.h"

#include <algorithm>

#include "apps/cli/line/output_file.h"
#include "apps/cli/line/terminal.h"
#include "apps/cli/sound/sound_devices.h"
#include "talk/play_queue.h"

namespace tokamak::cli {
namespace {

constexpr size_t kStep = kSampleRate / 50;

class StreamLine final : public SoundLine {
 public:
  StreamLine(SoundSource source, std::string output, std::unique_ptr<SoundEncoder> encoder,
             uint32_t rate)
      : source_(std::move(source)),
        output_(std::move(output)),
        encoder_(std::move(encoder)),
        rate_(rate),
        queue_(rate) {}

  Result<Samples> hear(bool waits) override {
    Samples heard(kStep);
    if (!source_.has_ended()) {
      TOK_TRY(heard, source_.read(waits));
    }
    // The samples that are played by the end of that, exactly.
    heard_ += heard.size();
    const uint64_t until = heard_ * rate_ / kSampleRate;
    std::vector<float> out(until - written_);
    written_ = until;
    queue_.take(out);
    TOK_TRY(const std::string bytes, encoder_->add(out));
    if (output_ == "-") TOK_TRY(print_bytes(bytes));
    return heard;
  }
  bool has_ended() const override { return source_.has_ended(); }
  void play(std::span<const float> samples) override { queue_.add(samples); }
  void stop() override { queue_.stop(); }
  uint64_t played() const override { return queue_.played(); }
  Result<void> finish() override {
    TOK_TRY(const std::string bytes, encoder_->finish());
    return output_ == "-" ? print_bytes(bytes) : write_output(output_, bytes);
  }

 private:
  static Result<void> print_bytes(const std::string& bytes) {
    return bytes.empty() ? Result<void>() : print(bytes);
  }

  SoundSource source_;
  std::string output_;
  std::unique_ptr<SoundEncoder> encoder_;
  uint32_t rate_;
  PlayQueue queue_;
  uint64_t heard_ = 0, written_ = 0;  // samples
};

class DeviceLine final : public SoundLine {
 public:
  DeviceLine(std::unique_ptr<Microphone> microphone, std::unique_ptr<Loudspeaker> loudspeaker)
      : microphone_(std::move(microphone)), loudspeaker_(std::move(loudspeaker)) {}

  Result<Samples> hear(bool waits) override {
    TOK_TRY(loudspeaker_->status());
    return microphone_->read(waits);
  }
  void play(std::span<const float> samples) override { loudspeaker_->add(samples); }
  void stop() override { loudspeaker_->stop(); }
  uint64_t played() const override { return loudspeaker_->played(); }

 private:
  std::unique_ptr<Microphone> microphone_;
  std::unique_ptr<Loudspeaker> loudspeaker_;
};

}  // namespace

SoundSource source_of(RawSound sound) {
  const auto own = std::make_shared<RawSound>(std::move(sound));
  return {.read = [own](bool waits) { return own->read(waits); },
          .has_ended = [own] { return own->has_ended(); }};
}

SoundSource source_of(std::unique_ptr<Microphone> microphone) {
  const std::shared_ptr<Microphone> own = std::move(microphone);
  return {.read = [own](bool waits) { return own->read(waits); }, .has_ended = interrupted};
}

SoundSource source_of(Samples recording) {
  struct Place {
    Samples samples;
    size_t at = 0;
  };
  const auto place = std::make_shared<Place>(std::move(recording));
  return {.read = [place](bool) -> Result<Samples> {
            const size_t count = std::min(kStep, place->samples.size() - place->at);
            const auto first = place->samples.begin() + ptrdiff_t(place->at);
            place->at += count;
            return Samples(first, first + ptrdiff_t(count));
          },
          .has_ended = [place] { return place->at == place->samples.size(); }};
}

Result<std::unique_ptr<SoundLine>> make_stream_line(SoundSource source, const std::string& output,
                                                    SoundFileFormat format, uint32_t rate) {
  TOK_TRY(auto encoder, SoundEncoder::make(format, rate, output == "-"));
  return std::make_unique<StreamLine>(std::move(source), output, std::move(encoder), rate);
}

Result<std::unique_ptr<SoundLine>> open_device_line(uint32_t rate) {
  TOK_TRY(auto microphone, open_microphone());
  TOK_TRY(auto loudspeaker, open_loudspeaker(rate));
  return std::make_unique<DeviceLine>(std::move(microphone), std::move(loudspeaker));
}

}  // namespace tokamak::cli
