// The chunks of WAV files (RIFF, RF64, BW64) whose sizes may be wrong.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tokamak {

/// Samples and the format chunk that they follow.
struct WavPiece {
  std::span<const std::byte> format, samples;
};

struct WavFile {
  std::vector<WavPiece> pieces;  // several where files were put one after the other
  std::string missing;           // a sentence about samples that the file should have; "": none
};

/// Finds the samples. A size of 0, or of so much that nobody can have meant it, reaches to the end
/// of the file, as programs write that cannot go back; other sizes beyond the end are `missing`.
/// The size of the file itself, in its first bytes, does not count. Errors: no format or no
/// samples. REQUIRES: is_wav().
Result<WavFile> read_wav(std::span<const std::byte> file);

bool is_wav(std::span<const std::byte> file);

/// Returns a header for the samples of a piece alone.
std::string wav_head(const WavPiece& piece);

/// Whether the samples are MP3 in a WAV file.
bool is_mp3(const WavPiece& piece);

}  // namespace tokamak
