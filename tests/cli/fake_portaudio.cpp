// A stand-in for PortAudio: the microphone is the file FAKE_MICROPHONE, floats at 16 kHz, with
// silence after its end, and the loudspeaker appends its floats to FAKE_LOUDSPEAKER. A device whose
// variable is not set is not there. Recordings come at once, silence goes by as time does.
#include <portaudio.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

struct Device {
  FILE* file;
  double rate;
};

const char* path_of(bool is_input) {
  return getenv(is_input ? "FAKE_MICROPHONE" : "FAKE_LOUDSPEAKER");
}

PaDeviceIndex device(bool is_input) {
  return path_of(is_input) == nullptr ? paNoDevice : 0;
}

void sleep_for(double seconds) {
  const auto whole = time_t(seconds);
  const timespec time = {.tv_sec = whole, .tv_nsec = long(1e9 * (seconds - double(whole)))};
  nanosleep(&time, nullptr);
}

}  // namespace

PaError Pa_Initialize() {
  return paNoError;
}
PaError Pa_Terminate() {
  return paNoError;
}
const char* Pa_GetErrorText(PaError) {
  return "Unanticipated host error";
}
PaDeviceIndex Pa_GetDefaultInputDevice() {
  return device(true);
}
PaDeviceIndex Pa_GetDefaultOutputDevice() {
  return device(false);
}

PaError Pa_OpenStream(PaStream** stream, const PaStreamParameters* input, const PaStreamParameters*,
                      double rate, unsigned long, PaStreamFlags, PaStreamCallback*, void*) {
  FILE* const file = fopen(path_of(input != nullptr), input != nullptr ? "rb" : "ab");
  if (file == nullptr) return paUnanticipatedHostError;
  *stream = std::make_unique<Device>(file, rate).release();
  return paNoError;
}
PaError Pa_CloseStream(PaStream* stream) {
  const std::unique_ptr<Device> own(static_cast<Device*>(stream));
  fclose(own->file);
  return paNoError;
}
PaError Pa_StartStream(PaStream*) {
  return paNoError;
}
const PaStreamInfo* Pa_GetStreamInfo(PaStream*) {
  static const PaStreamInfo info = {
      .structVersion = 1, .inputLatency = 0.02, .outputLatency = 0.02, .sampleRate = 16000};
  return &info;
}

PaError Pa_ReadStream(PaStream* stream, void* buffer, unsigned long frames) {
  const Device& own = *static_cast<Device*>(stream);
  auto* const samples = static_cast<float*>(buffer);
  const size_t count = fread(samples, sizeof(float), frames, own.file);
  std::fill(samples + count, samples + frames, 0.0f);
  sleep_for(double(frames - count) / own.rate);
  return paNoError;
}
PaError Pa_WriteStream(PaStream* stream, const void* buffer, unsigned long frames) {
  const Device& own = *static_cast<Device*>(stream);
  fwrite(buffer, sizeof(float), frames, own.file);
  sleep_for(double(frames) / own.rate / 20);  // a fast one
  return paNoError;
}
