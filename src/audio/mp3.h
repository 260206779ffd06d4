// MPEG audio (MP3, also layer 2) frame by frame, by libmpg123. Native builds only.
#pragma once
#include <cstddef>
#include <span>

#include "audio/sound_sink.h"

namespace tokamak {

/// Whether the file begins with a frame, or has a run of frames after other bytes at its
/// beginning, as what was cut out of a stream.
bool has_mpeg_frames(std::span<const std::byte> file);

/// Gives all frames of the file to the sink, also of files that were put one after the other: a
/// header with a length (Xing, Info, VBRI) begins a piece, from whose ends the encoder's delay and
/// padding are cut, and limits nothing.
Result<void> decode_mp3(std::span<const std::byte> file, SoundSink& sink);

}  // namespace tokamak
