#include "base/system/text_windows.h"

#include <windows.h>

namespace tokamak {
namespace {

ErrorCode code_of(DWORD error) {
  switch (error) {
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ErrorCode::kOutOfMemory;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return ErrorCode::kUsage;
    default:
      return ErrorCode::kInvalidInput;
  }
}

}  // namespace

std::wstring wide_text(std::string_view text) {
  const int size = static_cast<int>(text.size());
  std::wstring wide(text.size(), L'\0');  // never fewer bytes than units
  wide.resize(size_t(::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, wide.data(), size)));
  return wide;
}

std::string narrow_text(std::wstring_view text) {
  const int size = static_cast<int>(text.size());
  std::string narrow(3 * text.size(), '\0');  // a unit takes three bytes at most
  narrow.resize(size_t(::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, narrow.data(), 3 * size,
                                             nullptr, nullptr)));
  return narrow;
}

Failure last_reason() {
  const DWORD error = ::GetLastError();
  wchar_t text[512];
  const DWORD size =
      ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error,
                       0, text, static_cast<DWORD>(std::size(text)), nullptr);
  std::string reason = narrow_text({text, size});
  while (!reason.empty() && (reason.back() == '.' || reason.back() <= ' ')) reason.pop_back();
  return fail(code_of(error), "{}", reason.empty() ? fmt::format("error {}", error) : reason);
}

}  // namespace tokamak
