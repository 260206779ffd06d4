// Models that take sounds of any length up to a limit, such as Moonshine, get a recording in pieces
// that end in pauses. They write a text of each and say nothing of when.
#include <algorithm>
#include <cmath>

#include "generate/steps/call_errors.h"
#include "speech/compression.h"
#include "speech/language.h"
#include "speech/listener.h"
#include "speech/silence.h"
#include "speech/text_sampler.h"
#include "speech/window_rows.h"

namespace tokamak {
namespace {

class PieceListener final : public Listener {
 public:
  PieceListener(const ListenerParts& parts, SpeechSteps steps)
      : parts_(parts),
        steps_(std::move(steps)),
        rows_(parts.model),
        pieces_(parts.model.max_samples) {}

  Result<void> begin(const TranscribeOptions& options) override {
    TOK_TRY(language_code(options.language, {"en"}));
    if (options.translate || !options.prompt.empty()) {
      return fail(ErrorCode::kUsage, "The model takes no {}; that is for Whisper.",
                  options.translate ? "translation" : "prompt");
    }
    options_ = options;
    pieces_ = PieceFinder(parts_.model.max_samples);
    return {};
  }

  Result<Taken> take(std::span<const float> sound, bool is_end,
                     const std::function<bool()>& cancelled) override {
    const Piece piece = pieces_.next(sound, is_end);
    Taken taken = {.samples = piece.taken};
    if (piece.begin == piece.end) return taken;
    TOK_TRY(Segment segment, write(sound.subspan(piece.begin, piece.end - piece.begin), cancelled));
    segment.start = seconds_of(piece.begin);
    segment.end = seconds_of(piece.end);
    if (!segment.ids.empty()) taken.segments.push_back(std::move(segment));
    return taken;
  }

 private:
  /// Most tokens of a text: small models go on and on about noise.
  size_t max_tokens(size_t samples) const {
    constexpr double kMore = 8;
    const double most = std::ceil(seconds_of(samples) * parts_.model.tokens_per_second) + kMore;
    return parts_.model.tokens_per_second == 0 ? SIZE_MAX : size_t(most);
  }

  Result<Segment> write(std::span<const float> sound, const std::function<bool()>& cancelled) {
    TOK_TRY(steps_.hear(rows_.of(sound)));
    TOK_TRY(TextSampler sampler, TextSampler::make(options_.temperature, options_.seed));
    Segment out{.temperature = options_.temperature};
    for (uint32_t id = parts_.model.start; steps_.room() > 0;) {
      if (cancelled && cancelled()) return call_was_cancelled();
      TOK_TRY(const std::span<const float> logits,
              steps_.feed({&id, 1}, [&] { sampler.settle(); }));
      TOK_TRY(id, sampler.next({logits.begin(), logits.end()}, out.ids));
      if (std::ranges::find(parts_.end_ids, id) != parts_.end_ids.end()) break;
      out.ids.push_back(id);
      if (out.ids.size() >= max_tokens(sound.size())) break;
    }
    out.average_log_prob = sampler.average_log_prob();
    out.text = parts_.text_of(out.ids);
    out.compression_ratio = compression_ratio(out.text);
    if (!out.text.empty()) out.text.insert(0, " ");  // pieces are words apart
    return out;
  }

  ListenerParts parts_;
  SpeechSteps steps_;
  WindowRows rows_;
  PieceFinder pieces_;
  TranscribeOptions options_;
};

}  // namespace

Result<std::unique_ptr<Listener>> make_piece_listener(const ListenerParts& parts) {
  TOK_TRY(SpeechSteps steps, SpeechSteps::start(parts.program, parts.model));
  return std::make_unique<PieceListener>(parts, std::move(steps));
}

}  // namespace tokamak
