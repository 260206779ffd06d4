#include "apps/cli/sound/sound_line.h"

#include <algorithm>

#include "apps/cli/line/output_file.h"
#include "apps/cli/line/terminal.h"
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

}  // namespace

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

}  // namespace tokamak::cli
