// Files of sound to samples; native builds only.
//
// WAV (whole numbers of 8 to 32 bits, floats, A-law, mu-law; also RF64), FLAC, Ogg with Vorbis,
// Opus or FLAC, and MP3, told apart by their first bytes. Whole numbers of b bits are divided by
// 2^(b - 1), channels are averaged, and other rates become 16 kHz.
#pragma once
#include <cstddef>
#include <span>

#include "audio/sound.h"

namespace tokamak {

/// The sound in a file, which is not empty. Errors do not name the file, which the caller adds with
/// Error::within. Files that are cut off are errors, as far as their format lets one tell.
Result<Samples> decode_sound(std::span<const std::byte> file, const SoundLimits& limits = {});

}  // namespace tokamak
