// The stand-in for programs that were built without PortAudio.
#include "apps/cli/sound/sound_line.h"

namespace tokamak::cli {

Result<std::unique_ptr<SoundLine>> open_device_line(uint32_t) {
  return fail(ErrorCode::kUnsupported,
              "The program was built without PortAudio and knows no microphone; let other programs "
              "have it: arecord -f S16_LE -r 16000 | tokamak talk ... --input - --output - | "
              "aplay.");
}

}  // namespace tokamak::cli
