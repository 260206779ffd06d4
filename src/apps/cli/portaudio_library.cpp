#include "apps/cli/portaudio_library.h"

#include <dlfcn.h>

namespace tokamak::cli {
namespace {

constexpr const char* kName = "libportaudio.so.2";

Failure unusable(const char* why) {
  return fail(ErrorCode::kDevice,
              "There is no sound: PortAudio cannot be opened ({}). Install libportaudio2 (Debian, "
              "Ubuntu) or portaudio "
              "(Fedora, Arch); `--input FILE --output FILE` needs none.",
              why);
}

Result<PortAudio> opened() {
  void* const library = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unusable(::dlerror());
  PortAudio found = {};
  const auto find = [library](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  const bool is_whole =
      find(found.initialize, "Pa_Initialize") && find(found.terminate, "Pa_Terminate") &&
      find(found.error_text, "Pa_GetErrorText") &&
      find(found.default_input_device, "Pa_GetDefaultInputDevice") &&
      find(found.default_output_device, "Pa_GetDefaultOutputDevice") &&
      find(found.open_stream, "Pa_OpenStream") && find(found.close_stream, "Pa_CloseStream") &&
      find(found.start_stream, "Pa_StartStream") && find(found.stream_info, "Pa_GetStreamInfo") &&
      find(found.read_stream, "Pa_ReadStream") && find(found.write_stream, "Pa_WriteStream");
  if (!is_whole) return unusable(::dlerror());
  return found;
}

}  // namespace

Result<const PortAudio*> portaudio() {
  static const Result<PortAudio> library = opened();
  if (!library) return std::unexpected(library.error());
  return &*library;
}

}  // namespace tokamak::cli
