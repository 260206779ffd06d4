#pragma once

#include <portaudio.h>

#include "base/result.h"

namespace tokamak::cli {

/// The functions of PortAudio that a conversation by voice calls. Opened at run time: the library
/// brings those of ALSA and JACK along, without which everything but the microphone works.
struct PortAudio {
  decltype(&Pa_Initialize) initialize;
  decltype(&Pa_Terminate) terminate;
  decltype(&Pa_GetErrorText) error_text;
  decltype(&Pa_GetDefaultInputDevice) default_input_device;
  decltype(&Pa_GetDefaultOutputDevice) default_output_device;
  decltype(&Pa_OpenStream) open_stream;
  decltype(&Pa_CloseStream) close_stream;
  decltype(&Pa_StartStream) start_stream;
  decltype(&Pa_GetStreamInfo) stream_info;
  decltype(&Pa_ReadStream) read_stream;
  decltype(&Pa_WriteStream) write_stream;
};

/// Opens the library at the first call; it stays open. kDevice names what is missing and how to go
/// on without it.
Result<const PortAudio*> portaudio();

}  // namespace tokamak::cli
