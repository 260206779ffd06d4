// Files of sound to samples; native builds only.
//
// WAV (whole numbers of 8 to 32 bits, floats, A-law, mu-law; also RF64, BW64), FLAC, Ogg with
// Vorbis, Opus or FLAC, and MP3, known by their first bytes. Whole numbers of b bits are
// divided by 2^(b - 1), channels are averaged, and other rates become 16 kHz.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "audio/sound.h"

namespace tokamak {

struct DecodedSound {
  Samples samples;
  std::string missing;  // a sentence about sound that the file should have and has not; "": none
};

/// Decodes all sound of a file, which is not empty: lengths come from its data and not from its
/// header, and files that were put one after the other are one sound. Damaged or cut off files
/// are read as far as possible. Errors do not name the file: the caller adds it by Error::within.
Result<DecodedSound> decode_as_far_as_possible(std::span<const std::byte> file,
                                               const SoundLimits& limits = {});

/// Decodes the same, where sound that is missing is an error.
Result<Samples> decode_sound(std::span<const std::byte> file, const SoundLimits& limits = {});

}  // namespace tokamak
