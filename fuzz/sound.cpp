// Any bytes as a file of sound: an error or samples, no more than were allowed, all of them
// numbers.
#include <cmath>
#include <cstdint>

#include "audio/decode.h"
#include "base/check.h"

using namespace tokamak;

// libvorbis forgets some kilobytes of a damaged header (Debian 12's 1.3.7).
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libvorbis";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  constexpr SoundLimits kLimits = {.max_seconds = 20};
  const auto bytes = std::as_bytes(std::span(input, size));
  if (const auto sound = decode_as_far_as_possible(bytes, kLimits)) {
    // The last sample of each of the files in it may only be in part there.
    constexpr size_t kMinBytes = 20;
    const size_t rounded = 1 + size / kMinBytes;
    TOK_CHECK(sound->samples.size() <= size_t{kLimits.max_seconds} * kSampleRate + rounded);
    for (const float one : sound->samples) TOK_CHECK(std::isfinite(one));
  }
  return 0;
}
