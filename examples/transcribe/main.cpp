// transcribe MODEL RECORDING [FORMAT]: writes down what is said in a file of sound.
// MODEL is the folder of a speech-to-text model, Whisper or Moonshine; FORMAT is text, srt, vtt
// or json.
#include <tokamak/tokamak.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

int report(const tokamak::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: transcribe MODEL RECORDING [FORMAT]\n");
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  if (!file) return report({tokamak::ErrorCode::kInvalidInput, "The recording cannot be read."});
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto samples = tokamak::decode_recording(std::as_bytes(std::span(bytes)));
  if (!samples) return report(samples.error().within(argv[2]));

  auto model = tokamak::Model::open({.model = argv[1]});
  if (!model) return report(model.error());
  const auto transcript = model->transcribe(*samples);
  if (!transcript) return report(transcript.error());
  const auto text = tokamak::format_transcript(*transcript, argc > 3 ? argv[3] : "text");
  if (!text) return report(text.error());
  std::fputs(text->c_str(), stdout);
}
