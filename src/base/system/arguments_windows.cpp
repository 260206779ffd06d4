#include <windows.h>

#include "base/system/arguments.h"
// After windows.h, which it needs.
#include <shellapi.h>

#include "base/system/text_windows.h"

namespace tokamak {

/// main() gets them in the characters of an old code page, which lacks most.
std::vector<std::string> program_arguments(int, char**) {
  int count = 0;
  wchar_t** words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(narrow_text(words[i]));
  ::LocalFree(words);
  return arguments;
}

}  // namespace tokamak
