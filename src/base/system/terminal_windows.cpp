#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <cstdlib>

#include "base/system/terminal.h"
#include "base/system/text_windows.h"

namespace tokamak {
namespace {

constexpr int kErrors = 2;  // the C library's own number of standard error

DWORD number_of(StandardStream stream) {
  switch (stream) {
    case StandardStream::kInput:
      return STD_INPUT_HANDLE;
    case StandardStream::kOutput:
      return STD_OUTPUT_HANDLE;
    case StandardStream::kError:
      return STD_ERROR_HANDLE;
  }
  return STD_ERROR_HANDLE;
}

}  // namespace

bool is_terminal(StandardStream stream) {
  DWORD mode = 0;
  return ::GetConsoleMode(::GetStdHandle(number_of(stream)), &mode) != 0;
}

size_t columns_of(StandardStream stream) {
  CONSOLE_SCREEN_BUFFER_INFO screen = {};
  if (!::GetConsoleScreenBufferInfo(::GetStdHandle(number_of(stream)), &screen)) return 0;
  return size_t(screen.srWindow.Right - screen.srWindow.Left + 1);
}

bool open_if_closed(StandardStream stream) {
  const DWORD number = number_of(stream);
  const HANDLE handle = ::GetStdHandle(number);
  if (handle == nullptr || handle == INVALID_HANDLE_VALUE) {
    ::SetStdHandle(number, ::CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                                         FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING,
                                         0, nullptr));
    return true;
  }
  DWORD mode = 0;
  if (stream != StandardStream::kInput && ::GetConsoleMode(handle, &mode)) {
    // From here on the console takes UTF-8 and codes, as terminals do.
    ::SetConsoleOutputCP(CP_UTF8);
    ::SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
  return false;
}

Result<void> write_to_reader(std::string_view text) {
  const HANDLE handle = ::GetStdHandle(STD_OUTPUT_HANDLE);
  while (!text.empty()) {
    constexpr size_t kMaxPiece = size_t{1} << 16;
    DWORD count = 0;
    const DWORD most = static_cast<DWORD>(text.size() < kMaxPiece ? text.size() : kMaxPiece);
    if (!::WriteFile(handle, text.data(), most, &count, nullptr)) {
      const DWORD error = ::GetLastError();
      if (error == ERROR_BROKEN_PIPE || error == ERROR_NO_DATA) std::_Exit(1);
      return last_reason();
    }
    text.remove_prefix(count);
  }
  return {};
}

SilentErrors::SilentErrors() : before_(::_dup(kErrors)) {
  const int nothing = ::_open("NUL", _O_WRONLY);
  if (before_ >= 0 && nothing >= 0) ::_dup2(nothing, kErrors);
  if (nothing >= 0) ::_close(nothing);
}

SilentErrors::~SilentErrors() {
  if (before_ < 0) return;
  ::_dup2(static_cast<int>(before_), kErrors);
  ::_close(static_cast<int>(before_));
}

}  // namespace tokamak
