#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/system/mapped_file.h"

namespace tokamak {

Result<MappedFile> MappedFile::map(const File& file, uint64_t bytes) {
  if (bytes == 0) return MappedFile();
  void* begin =
      ::mmap(nullptr, size_t(bytes), PROT_READ, MAP_PRIVATE, static_cast<int>(file.handle()), 0);
  if (begin == MAP_FAILED) return invalid_input("{}", std::strerror(errno));
  return MappedFile(std::span(static_cast<const std::byte*>(begin), size_t(bytes)));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tokamak
