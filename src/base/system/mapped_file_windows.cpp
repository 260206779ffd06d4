#include <windows.h>

#include "base/system/mapped_file.h"
#include "base/system/text_windows.h"

namespace tokamak {

Result<MappedFile> MappedFile::map(const File& file, uint64_t bytes) {
  if (bytes == 0) return MappedFile();
  const HANDLE mapping = ::CreateFileMappingW(reinterpret_cast<HANDLE>(file.handle()), nullptr,
                                              PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) return last_reason();
  void* begin = ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size_t(bytes));
  const DWORD error = ::GetLastError();
  ::CloseHandle(mapping);  // the view keeps what it needs
  ::SetLastError(error);
  if (begin == nullptr) return last_reason();
  return MappedFile(std::span(static_cast<const std::byte*>(begin), size_t(bytes)));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::UnmapViewOfFile(bytes_.data());
}

}  // namespace tokamak
