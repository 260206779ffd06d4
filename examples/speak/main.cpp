// speak MODEL TEXT FILE [CODEC]: speaks a text into a .wav file.
// MODEL is the folder of a text-to-speech model, Kani-TTS-2. CODEC makes sound of what it writes,
// NanoCodec; without it the one in the model's folder or beside it.
#include <tokamak/tokamak.h>

#include <cstdio>
#include <fstream>

namespace {

int report(const tokamak::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: speak MODEL TEXT FILE [CODEC]\n");
    return 2;
  }
  auto model = tokamak::Model::open({.model = argv[1]});
  if (!model) return report(model.error());
  const auto speech = model->speak(argv[2], {.codec = argc > 4 ? argv[4] : ""});
  if (!speech) return report(speech.error());
  const auto file = tokamak::encode_speech(*speech, "wav");
  if (!file) return report(file.error());
  if (!(std::ofstream(argv[3], std::ios::binary) << *file)) {
    return report({tokamak::ErrorCode::kInvalidInput, "The file cannot be written."});
  }
}
