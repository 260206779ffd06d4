// Result<T>: how every function that reads input, files or devices reports failure.
//
// An Error is one sentence for a person plus a code for a program; the code decides the exit status
// of the command line. Functions add context on the way up ("while reading ..."). Nothing throws.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace tokamak {

/// Values are part of the interface: tokamak/c.h has the same ones.
enum class ErrorCode : uint8_t {
  kUsage,         // a flag or an argument is wrong
  kInvalidInput,  // a file, a prompt or a message is wrong
  kUnsupported,   // well-formed, but not something this engine runs
  kDevice,        // no device, a refused driver
  kDeviceLost,    // a device that worked is gone, with what was on it
  kOutOfMemory,   // host or device memory
  kCancelled,     // the caller asked to stop
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;  // full sentences, present tense, naming the object and both values

  /// The same error with `context` in front: "context: message".
  Error within(std::string_view context) const {
    return {code, std::string(context).append(": ").append(message)};
  }
};

template <typename T>
using Result = std::expected<T, Error>;

using Failure = std::unexpected<Error>;

}  // namespace tokamak
