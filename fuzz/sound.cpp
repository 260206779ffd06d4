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
  if (const auto samples = decode_sound(std::as_bytes(std::span(input, size)), kLimits)) {
    constexpr size_t kRounded = 1;  // a last sample that is only in part there
    TOK_CHECK(samples->size() <= size_t{kLimits.max_seconds} * kSampleRate + kRounded);
    for (const float one : *samples) TOK_CHECK(std::isfinite(one));
  }
  return 0;
}
