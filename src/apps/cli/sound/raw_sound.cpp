#include "apps/cli/sound/raw_sound.h"

#include <algorithm>
#include <array>

#include "apps/cli/line/input.h"
#include "apps/cli/line/terminal.h"

namespace tokamak::cli {
namespace {

constexpr size_t kMaxBytes = 65536;

}  // namespace

void add_raw_sound_options(App& command, RawSoundFlags& flags, const std::string& group) {
  command
      .add_option("--input-format", flags.format,
                  "standard input is samples without a header, by ffmpeg's names: u8, s16le, "
                  "s24le, s32le, f32le")
      ->check(one_of({std::begin(kPcmFormatNames), std::end(kPcmFormatNames)}))
      ->group(group);
  command.add_option("--rate", flags.rate, "of those: samples a second")
      ->capture_default_str()
      ->check(in_range(1000, 768'000))
      ->group(group);
  command.add_option("--channels", flags.channels, "of those")
      ->capture_default_str()
      ->check(in_range(1, 32))
      ->group(group);
}

Result<RawSound> RawSound::open(const RawSoundFlags& flags) {
  TOK_TRY(check_stdin());
  if (stdin_is_terminal()) {
    return fail(ErrorCode::kUsage,
                "Standard input is a terminal, which has no sound; let a program write into it.");
  }
  TOK_TRY(Resampler resampler, Resampler::open({.rate = flags.rate, .channels = flags.channels}));
  const auto input = File::standard(StandardStream::kInput).state();
  const bool is_file = input && input->kind == FileKind::kFile;
  PcmReader reader(*pcm_format(flags.format), flags.channels);
  // A file has everything at once; it is read as a microphone would give it, 20 ms each time.
  const size_t most = is_file ? reader.moment_bytes() * flags.rate / 50 : kMaxBytes;
  return RawSound(std::move(reader), std::move(resampler), most);
}

Result<Samples> RawSound::read(bool waits) {
  File input = File::standard(StandardStream::kInput);
  Samples out;
  while (!has_ended_ && out.empty() && !interrupted()) {
    if (!input.has_input(waits)) {
      if (waits) continue;  // a signal
      break;
    }
    std::array<std::byte, kMaxBytes> bytes;
    const auto count = input.read(std::span(bytes).first(std::min(most_, bytes.size())));
    if (!count) {
      return invalid_input("Reading standard input failed: {}.", count.error().message);
    }
    std::vector<float> samples;
    reader_.add(std::span(bytes).first(*count), samples);
    TOK_TRY(resampler_.add(samples, out));
    if (*count > 0) continue;
    has_ended_ = true;
    if (reader_.is_cut()) {
      return invalid_input(
          "Standard input ends in the middle of a sample: it is not what --input-format and "
          "--channels say.");
    }
    TOK_TRY(resampler_.finish(out));
  }
  return out;
}

}  // namespace tokamak::cli
