// Archives whose files can be read where they are: tar, and zip whose entries are stored as they
// are.
#pragma once
#include <string>
#include <vector>

#include "formats/byte_source.h"

namespace tokamak {

struct ArchivedFile {
  std::string name;     // without "./" in front
  uint64_t offset = 0;  // from the start of the source
  uint64_t bytes = 0;

  uint64_t end() const { return offset + bytes; }
};

/// The regular files of a tar archive (POSIX.1-1988, ustar). Errors: a header that is none, a file
/// that goes beyond the end.
Result<std::vector<ArchivedFile>> list_tar(const ByteSource& source);

/// The files of the zip archive that is `archive`, a part of the source (APPNOTE.TXT 6.3). Errors:
/// no archive, one of more than 4 GiB, a file that is compressed or goes beyond the end.
Result<std::vector<ArchivedFile>> list_zip(const ByteSource& source, const ArchivedFile& archive);

/// The one file of that name; an error when there is none or more than one.
Result<ArchivedFile> only_file(const std::vector<ArchivedFile>& files, std::string_view name);

}  // namespace tokamak
