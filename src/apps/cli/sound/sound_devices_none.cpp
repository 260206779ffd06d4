// The stand-in for programs that were built without PortAudio.
#include "apps/cli/sound/sound_devices.h"

namespace tokamak::cli {
namespace {

Failure unknown(const char* what, const char* instead) {
  return fail(ErrorCode::kUnsupported,
              "The program was built without PortAudio and knows no {}; let another program have "
              "it: {}.",
              what, instead);
}

}  // namespace

Result<std::unique_ptr<Microphone>> open_microphone() {
  return unknown("microphone",
                 "arecord -f S16_LE -r 16000 | tokamak transcribe MODEL - --input-format s16le, or "
                 "| tokamak talk ... --input - --output -");
}

Result<std::unique_ptr<Loudspeaker>> open_loudspeaker(uint32_t) {
  return unknown("loudspeaker", "tokamak speak ... -o - | aplay");
}

}  // namespace tokamak::cli
