// Whisper goes through a recording in windows of one length, each of which begins where the
// timestamps of the one before say that it was understood to. Where a text looks wrong, since it
// repeats itself or the model was not sure of it, it is written again at a higher temperature.
#include <algorithm>
#include <cmath>
#include <optional>

#include "generate/steps/call_errors.h"
#include "speech/compression.h"
#include "speech/language.h"
#include "speech/listener.h"
#include "speech/text_sampler.h"
#include "speech/whisper_segments.h"
#include "speech/whisper_tokens.h"
#include "speech/window_rows.h"

namespace tokamak {
namespace {

// The values of the model's authors.
constexpr double kTemperatureStep = 0.2, kMaxTemperature = 1;
constexpr double kMaxCompression = 2.4;
constexpr double kMinLogProb = -1;
constexpr double kMaxNoSpeech = 0.6;

struct Attempt {
  std::vector<uint32_t> ids;  // without the end
  std::string text;
  double temperature = 0, average_log_prob = 0, no_speech_prob = 0, compression = 0;

  bool is_silence() const {
    return no_speech_prob > kMaxNoSpeech && average_log_prob < kMinLogProb;
  }
  bool looks_right() const {
    return compression <= kMaxCompression && (average_log_prob >= kMinLogProb || is_silence());
  }
};

class WhisperListener final : public Listener {
 public:
  WhisperListener(const ListenerParts& parts, WhisperTokens tokens, SpeechSteps steps)
      : parts_(parts), tokens_(std::move(tokens)), steps_(std::move(steps)), rows_(parts.model) {}

  Result<void> begin(const TranscribeOptions& options) override {
    options_ = options;
    language_.reset();
    prompt_.clear();
    TOK_TRY(std::string language, language_code(options.language, known_languages()));
    if (!language.empty()) language_ = std::move(language);
    if (options.translate && !tokens_.translate) {
      return fail(ErrorCode::kUsage, "The model does not translate: it knows English alone.");
    }
    if (!options.prompt.empty() && parts_.tokenizer != nullptr && tokens_.previous) {
      TOK_TRY(prompt_, parts_.tokenizer->encode(" " + options.prompt,
                                                {.add_special = false, .parse_special = false}));
      // The text itself needs the other half of the positions.
      const size_t most = steps_.room() / 2 - 1;
      if (prompt_.size() > most) prompt_.erase(prompt_.begin(), prompt_.end() - ptrdiff_t(most));
    }
    return {};
  }

  Result<Taken> take(std::span<const float> sound, bool is_end,
                     const std::function<bool()>& cancelled) override {
    const size_t window = parts_.model.max_samples;
    if (sound.size() < window && !is_end) return Taken();
    sound = sound.first(std::min(window, sound.size()));
    TOK_TRY(steps_.hear(rows_.of(sound)));
    TOK_TRY(const Attempt best, best_attempt(cancelled));
    prompt_.clear();  // for the first window only
    Taken taken = {.samples = sound.size()};
    if (best.is_silence()) return taken;
    WindowSegments cut = segments_of(best, seconds_of(sound.size()));
    const auto done = size_t(std::llround(cut.seconds * kSampleRate));
    if (done > 0) taken.samples = std::min(done, sound.size());
    for (Segment& segment : cut.segments) {
      segment.text = parts_.text_of(segment.ids);
      segment.temperature = best.temperature;
      segment.average_log_prob = best.average_log_prob;
      segment.no_speech_prob = best.no_speech_prob;
      segment.compression_ratio = best.compression;
    }
    taken.segments = std::move(cut.segments);
    return taken;
  }

  std::string language() const override {
    return tokens_.languages.empty() ? "en" : language_.value_or("");
  }

 private:
  std::set<std::string> known_languages() const {
    std::set<std::string> known;
    for (const auto& [code, id] : tokens_.languages) known.insert(code);
    if (known.empty()) known.insert("en");
    return known;
  }

  WindowSegments segments_of(const Attempt& attempt, double seconds) const {
    if (options_.timestamps) return cut_into_segments(tokens_, attempt.ids, seconds);
    return {{Segment{.start = 0, .end = seconds, .ids = tokens_.text_ids(attempt.ids)}}, seconds};
  }

  /// Feeds what comes before the text; the logits after it, and how probable silence is.
  Result<std::span<const float>> begin_text(double& no_speech_prob) {
    std::vector<uint32_t> ids;
    if (!prompt_.empty()) {
      ids.push_back(*tokens_.previous);
      ids.insert(ids.end(), prompt_.begin(), prompt_.end());
    }
    ids.push_back(tokens_.start);
    TOK_TRY(std::span<const float> logits, steps_.feed(ids));
    no_speech_prob = tokens_.no_speech_prob(logits);
    ids.clear();
    if (!tokens_.languages.empty()) {
      if (!language_) language_ = tokens_.language_of(logits);
      ids.push_back(tokens_.languages.at(*language_));
      const auto& task = options_.translate ? tokens_.translate : tokens_.transcribe;
      if (task) ids.push_back(*task);
    }
    if (!options_.timestamps) ids.push_back(tokens_.no_timestamps);
    if (ids.empty()) return logits;
    return steps_.feed(ids);
  }

  Result<Attempt> attempt(double temperature, const std::function<bool()>& cancelled) {
    Attempt out{.temperature = temperature};
    steps_.restart();
    TOK_TRY(std::span<const float> logits, begin_text(out.no_speech_prob));
    TOK_TRY(TextSampler sampler, TextSampler::make(temperature, options_.seed));
    for (;;) {
      if (cancelled && cancelled()) return call_was_cancelled();
      std::vector<float> allowed(logits.begin(), logits.end());
      tokens_.forbid(out.ids, options_.timestamps, allowed);
      TOK_TRY(const uint32_t id, sampler.next(std::move(allowed), out.ids));
      if (id == tokens_.end) break;
      out.ids.push_back(id);
      if (steps_.room() == 0) break;
      TOK_TRY(logits, steps_.feed({&id, 1}, [&] { sampler.settle(); }));
    }
    out.average_log_prob = sampler.average_log_prob();
    out.text = parts_.text_of(tokens_.text_ids(out.ids));
    out.compression = compression_ratio(out.text);
    return out;
  }

  Result<Attempt> best_attempt(const std::function<bool()>& cancelled) {
    for (double temperature = options_.temperature;;
         temperature = std::min(temperature + kTemperatureStep, kMaxTemperature)) {
      TOK_TRY(Attempt one, attempt(temperature, cancelled));
      if (one.looks_right() || !options_.fallback || temperature >= kMaxTemperature) return one;
    }
  }

  ListenerParts parts_;
  WhisperTokens tokens_;
  SpeechSteps steps_;
  WindowRows rows_;
  TranscribeOptions options_;
  std::optional<std::string> language_;
  std::vector<uint32_t> prompt_;
};

}  // namespace

Result<std::unique_ptr<Listener>> make_whisper_listener(const ListenerParts& parts) {
  TOK_TRY(WhisperTokens tokens,
          WhisperTokens::read(parts.description, parts.model.start, parts.vocab, parts.tokenizer));
  TOK_TRY(SpeechSteps steps, SpeechSteps::start(parts.program, parts.model));
  return std::make_unique<WhisperListener>(parts, std::move(tokens), std::move(steps));
}

}  // namespace tokamak
