// Whether a file of sound is cut off: what libsndfile reads as far as it goes without a word.
#pragma once
#include <cstddef>
#include <span>

#include "base/result.h"

namespace tokamak {

/// An error where the chunk of samples of a WAV file says that it is longer than the file. Sizes
/// that stand for "until the end", as programs write that do not know it, are none.
/// REQUIRES: the file begins as a WAV file of 32-bit sizes.
Result<void> check_whole_wav(std::span<const std::byte> file);

/// An error where the last page of an Ogg file is not all there. REQUIRES: it begins as one.
Result<void> check_whole_ogg(std::span<const std::byte> file);

}  // namespace tokamak
