// The benchmarks of speech models, both ways.
#include <algorithm>
#include <cmath>
#include <random>

#include "audio/sound.h"
#include "report/bench/bench_work.h"
#include "speech/narrator.h"
#include "speech/speech_steps.h"
#include "speech/text_sampler.h"
#include "speech/voice_steps.h"
#include "speech/window_rows.h"

namespace tokamak {
namespace {

constexpr double kHeardSeconds = 30, kSaidSeconds = 10;
/// The sentence that is spoken: enough to time its beginning and how fast it goes on.
constexpr std::string_view kSentence =
    "Good morning, and welcome to the news: the weather stays as it has been all week.";
/// The small piece of work that is checked has these sizes.
constexpr uint32_t kCheckTokens = 12, kCheckFrames = 6;
constexpr double kCheckSeconds = 1;

/// Noise that swells and fades, as loud as speech.
Samples noise(size_t count) {
  std::mt19937 random(1);
  Samples samples(count);
  for (size_t i = 0; i < count; ++i) {
    const double swell = 0.55 + 0.45 * std::sin(double(i) / 2000);
    samples[i] = float(0.2 * swell * (double(random()) / double(std::mt19937::max()) - 0.5));
  }
  return samples;
}

/// "30 s", "2.5 s"
std::string seconds_name(double seconds) {
  return fmt::format("{:g} s", seconds);
}

}  // namespace

Result<std::vector<WorkTest>> time_hearing(Engine& engine, const BenchOptions& options,
                                           const Clock& clock) {
  const SpeechModel& model = *engine.compiled().speech;
  const double seconds = options.seconds > 0 ? options.seconds : kHeardSeconds;
  const Samples sound = noise(size_t(seconds * kSampleRate));
  TOK_TRY(SpeechSteps steps, SpeechSteps::start(engine.program(), model));
  const WindowRows rows(model);
  const uint32_t tokens = std::max(options.heard_tokens, 1u);
  WorkTest test{.name = fmt::format("{} of sound, {} tokens", seconds_name(seconds), tokens),
                .unit = "x real time",
                .amount = seconds,
                .tokens = tokens,
                .first_name = "token"};
  const auto hear = [&](double& first) -> Result<void> {
    uint32_t written = 0;
    for (size_t at = 0; at < sound.size();) {
      const size_t count = std::min<size_t>(model.max_samples, sound.size() - at);
      const auto share = double(at + count) / double(sound.size());
      const uint32_t until = std::max(uint32_t(std::lround(share * tokens)), written + 1);
      TOK_TRY(steps.hear(rows.of(std::span(sound).subspan(at, count))));
      TOK_TRY(TextSampler sampler, TextSampler::make(0, 0));
      std::vector<uint32_t> ids;
      for (uint32_t id = model.start; written < until && steps.room() > 0; ++written) {
        TOK_TRY(const std::span<const float> logits,
                steps.feed({&id, 1}, [&] { sampler.settle(); }));
        TOK_TRY(id, sampler.next({logits.begin(), logits.end()}, ids));
        ids.push_back(id);
        if (written == 0) first = clock();
      }
      at += count;
    }
    test.tokens = written;
    return {};
  };
  TOK_TRY(repeat(test, options, clock, hear));
  return std::vector{std::move(test)};
}

Result<WorkResults> heard_results(Engine& engine) {
  const SpeechModel& model = *engine.compiled().speech;
  TOK_TRY(SpeechSteps steps, SpeechSteps::start(engine.program(), model));
  std::vector<float> rows;
  TOK_TRY(steps.hear(WindowRows(model).of(noise(size_t(kCheckSeconds * kSampleRate))), &rows));
  std::vector<uint32_t> ids = random_ids(kCheckTokens, engine.compiled().facts.vocab);
  ids.front() = model.start;
  TOK_TRY(const std::span<const float> logits, steps.feed(ids));
  return WorkResults{std::move(rows), {logits.begin(), logits.end()}};
}

Result<std::vector<WorkTest>> time_speaking(Engine& engine, const BenchOptions& options,
                                            const Clock& clock) {
  TOK_TRY(Narrator* const narrator, engine.narrator(options.codec));
  const SoundOfCodes& codec = narrator->codec();
  const double asked = options.seconds > 0 ? options.seconds : kSaidSeconds;
  const double frames = std::ceil(asked * codec.rate / codec.samples_per_frame);
  NarrationOptions narration;
  narration.frames.max_tokens = uint32_t(frames) * codec.groups;
  narration.frames.sampling.seed = 1;
  WorkTest test{.name = "a sentence", .unit = "x real time", .first_name = "sound"};
  const auto say = [&](double& first) -> Result<void> {
    TOK_TRY(narrator->begin(narration));
    narrator->add(kSentence);
    narrator->end_text();
    size_t samples = 0;
    for (;;) {
      TOK_TRY(const auto more, narrator->next(options.cancelled));
      if (!more) break;
      if (samples == 0 && !more->empty()) first = clock();
      samples += more->size();
    }
    test.amount = double(samples) / codec.rate;
    test.tokens = narrator->narration().frames * codec.groups;
    return {};
  };
  TOK_TRY(repeat(test, options, clock, say));
  test.name = fmt::format("a sentence of {:.1f} s", test.amount);
  return std::vector{std::move(test)};
}

Result<WorkResults> said_results(Engine& engine, const BenchOptions& options) {
  const VoiceModel& model = *engine.compiled().voice;
  TOK_TRY(VoiceSteps steps, VoiceSteps::start(engine.program(), model));
  TOK_TRY(steps.begin({}));
  std::vector<uint32_t> ids = random_ids(kCheckTokens, model.audio_start);
  for (uint32_t group = 0; group < model.groups; ++group) {
    ids.push_back(model.audio_start + group * model.codes + group);
  }
  FramePositions positions(model);
  std::vector<float> places;
  for (const uint32_t id : ids) places.push_back(positions.next(id));
  TOK_TRY(const std::span<const float> logits, steps.feed(ids, places));
  WorkResults results = {{logits.begin(), logits.end()}};
  TOK_TRY(Narrator* const narrator, engine.narrator(options.codec));
  const SoundOfCodes& codec = narrator->codec();
  const auto codes = random_ids(size_t{kCheckFrames} * codec.groups, codec.codes);
  TOK_TRY(results.emplace_back(), codec.decode(codes, 0));
  return results;
}

Result<std::vector<WorkTest>> time_codec(Codec& codec, const BenchOptions& options,
                                         const Clock& clock) {
  const double asked = options.seconds > 0 ? options.seconds : kSaidSeconds;
  const double of_frame = double(codec.samples_per_frame()) / codec.sample_rate();
  const auto frames = std::max(uint32_t(std::lround(asked / of_frame)), 1u);
  const uint32_t groups = codec.groups();
  const auto codes = random_ids(size_t{frames} * groups, codec.codes_per_group());
  std::vector<WorkTest> tests;
  // The pieces of SoundChunks: first few, then more; and all that there are.
  for (const uint32_t piece : {5u, 25u, frames}) {
    if (piece > frames || (!tests.empty() && piece == 25 && frames == 25)) continue;
    WorkTest& test = tests.emplace_back(
        WorkTest{.name = fmt::format("{:.1f} s in pieces of {} frames", frames * of_frame, piece),
                 .unit = "x real time",
                 .amount = frames * of_frame,
                 .first_name = "piece"});
    const auto once = [&](double& first) -> Result<void> {
      for (uint32_t done = 0; done < frames; done += piece) {
        const uint32_t context = std::min(done, codec.context_frames());
        const uint32_t count = context + std::min(piece, frames - done);
        TOK_TRY(codec.decode(
            std::span(codes).subspan(size_t{done - context} * groups, size_t{count} * groups),
            context));
        if (done == 0) first = clock();
      }
      return {};
    };
    TOK_TRY(repeat(test, options, clock, once));
  }
  return tests;
}

Result<WorkResults> work_results(Codec& codec) {
  const auto codes = random_ids(size_t{kCheckFrames} * codec.groups(), codec.codes_per_group());
  TOK_TRY(std::vector<float> samples, codec.decode(codes));
  return WorkResults{std::move(samples)};
}

}  // namespace tokamak
