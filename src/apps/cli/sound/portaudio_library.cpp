#include "apps/cli/sound/portaudio_library.h"

#include <string>

#include "base/system/dynamic_library.h"

namespace tokamak::cli {
namespace {

constexpr const char* kName = "libportaudio.so.2";

Failure unusable(const std::string& why) {
  return fail(ErrorCode::kDevice,
              "There is no sound: PortAudio cannot be opened ({}). Install libportaudio2 (Debian, "
              "Ubuntu) or portaudio (Fedora, Arch); `--input FILE --output FILE` needs none.",
              why);
}

Result<PortAudio> opened() {
  Result<DynamicLibrary> library = DynamicLibrary::open(kName);
  if (!library) return unusable(library.error().message);
  PortAudio found = {};
  LibraryFunctions find(*library);
  find(found.initialize, "Pa_Initialize");
  find(found.terminate, "Pa_Terminate");
  find(found.error_text, "Pa_GetErrorText");
  find(found.default_input_device, "Pa_GetDefaultInputDevice");
  find(found.default_output_device, "Pa_GetDefaultOutputDevice");
  find(found.open_stream, "Pa_OpenStream");
  find(found.close_stream, "Pa_CloseStream");
  find(found.start_stream, "Pa_StartStream");
  find(found.stream_info, "Pa_GetStreamInfo");
  find(found.read_stream, "Pa_ReadStream");
  find(found.write_stream, "Pa_WriteStream");
  if (find.missing() != nullptr) return unusable(fmt::format("it has no {}", find.missing()));
  library->keep();
  return found;
}

}  // namespace

Result<const PortAudio*> portaudio() {
  static const Result<PortAudio> library = opened();
  if (!library) return std::unexpected(library.error());
  return &*library;
}

}  // namespace tokamak::cli
