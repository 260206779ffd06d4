// SoundChunks: frames to samples while more frames come. The first samples come after a few frames,
// since somebody waits for them, later ones after more, which is less work for a codec. Every piece
// of a text begins with its first sound, a pause after the piece before it.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"

namespace tokamak {

/// The codec of a model that speaks.
struct SoundOfCodes {
  uint32_t groups = 0, codes = 0;  // codes of a frame, and how many there are of each
  uint32_t rate = 0;               // samples of a second
  uint32_t samples_per_frame = 0;
  uint32_t context_frames = 0;  // how many frames before its own a sample depends on
  /// The samples of all frames but the first `context`. Codes [frames, groups].
  std::function<Result<std::vector<float>>(std::span<const uint32_t> codes, uint32_t context)>
      decode;
};

class SoundChunks {
 public:
  explicit SoundChunks(SoundOfCodes codec) : codec_(std::move(codec)) {}

  const SoundOfCodes& codec() const { return codec_; }
  /// The next piece is the first one.
  void begin();
  void begin_piece();
  /// The samples that are ready, most times none.
  Result<std::vector<float>> add(std::span<const uint32_t> frame);
  /// The rest of the piece's.
  Result<std::vector<float>> end_piece();

 private:
  Result<std::vector<float>> decode();
  uint32_t pending() const { return uint32_t(codes_.size() / codec_.groups) - decoded_; }

  SoundOfCodes codec_;
  std::vector<uint32_t> codes_;  // of the piece
  uint32_t decoded_ = 0;         // frames of it
  uint32_t chunk_ = 0;           // frames that are decoded at once
  bool is_silent_ = true;        // no sound of this piece so far
  bool has_sound_ = false;       // of any piece
};

}  // namespace tokamak
