#include "formats/archive.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "formats/printable.h"

namespace tokamak {
namespace {

constexpr size_t kBlock = 512;
/// More files than any archive of a model has.
constexpr size_t kMaxFiles = 100'000;

std::string_view text_at(const FileBytes& bytes, size_t offset, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()) + offset, size);
  return all.substr(0, all.find('\0'));
}

/// A number in octal digits, with spaces around it; nothing for anything else.
std::optional<uint64_t> octal(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  text = first == text.npos ? "" : text.substr(first);
  text = text.substr(0, text.find(' '));
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '7' || value >> 60 != 0) return std::nullopt;
    value = value * 8 + uint64_t(c - '0');
  }
  return value;
}

/// Whether a header's sum is that of its bytes, those of the sum counting as spaces.
bool has_its_sum(const FileBytes& header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    sum += i >= 148 && i < 156 ? uint64_t{' '} : uint64_t(header[i]);
  }
  return octal(text_at(header, 148, 8)) == sum;
}

template <typename T>
T number_at(const FileBytes& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

Result<std::vector<ArchivedFile>> list_tar(const ByteSource& source) {
  std::vector<ArchivedFile> files;
  for (uint64_t at = 0; source.size() - at >= kBlock;) {
    TOK_TRY(const FileBytes header, source.view(at, kBlock));
    if (std::ranges::all_of(header, [](std::byte b) { return b == std::byte{0}; })) return files;
    const auto size = octal(text_at(header, 124, 12));
    if (!has_its_sum(header) || !size) {
      return invalid_input("There is no header of a tar archive at byte {}.", at);
    }
    at += kBlock;
    if (*size > source.size() - at) {
      return invalid_input("\"{}\" claims {} bytes, but only {} are left in the file.",
                           printable(text_at(header, 0, 100)), *size, source.size() - at);
    }
    const auto type = char(header[156]);
    if (type == '0' || type == '\0') {
      std::string name(text_at(header, 0, 100));
      if (name.starts_with("./")) name.erase(0, 2);
      files.push_back({std::move(name), at, *size});
      if (files.size() > kMaxFiles)
        return invalid_input("There are more than {} files.", kMaxFiles);
    }
    at += std::min(source.size() - at, (*size + kBlock - 1) / kBlock * kBlock);
  }
  return files;
}

Result<std::vector<ArchivedFile>> list_zip(const ByteSource& source, const ArchivedFile& archive) {
  constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30, kMaxComment = 65535;
  constexpr uint32_t kEnd = 0x06054b50, kEntry = 0x02014b50, kLocal = 0x04034b50;
  const uint64_t tail = std::min<uint64_t>(archive.bytes, kEndBytes + kMaxComment);
  TOK_TRY(const FileBytes last, source.view(archive.end() - tail, tail));
  std::optional<size_t> end;
  for (size_t i = last.size() < kEndBytes ? 0 : last.size() - kEndBytes + 1; i-- > 0 && !end;) {
    if (number_at<uint32_t>(last, i) == kEnd) end = i;
  }
  if (!end) return invalid_input("\"{}\" is no zip archive: it has no end of one.", archive.name);
  const uint32_t count = number_at<uint16_t>(last, *end + 10);
  const uint32_t size = number_at<uint32_t>(last, *end + 12);
  const uint32_t first = number_at<uint32_t>(last, *end + 16);
  if (count == UINT16_MAX || size == UINT32_MAX || first == UINT32_MAX) {
    return unsupported("\"{}\" is a zip archive of more than 4 GiB.", archive.name);
  }
  if (first > archive.bytes || size > archive.bytes - first) {
    return invalid_input("\"{}\": the list of files goes beyond its end.", archive.name);
  }
  TOK_TRY(const FileBytes list, source.view(archive.offset + first, size));
  std::vector<ArchivedFile> files;
  size_t at = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (list.size() - at < kEntryBytes || number_at<uint32_t>(list, at) != kEntry) {
      return invalid_input("\"{}\": entry {} of {} is none.", archive.name, i, count);
    }
    const uint32_t method = number_at<uint16_t>(list, at + 10);
    const uint64_t packed = number_at<uint32_t>(list, at + 20);
    const uint64_t bytes = number_at<uint32_t>(list, at + 24);
    const size_t name_bytes = number_at<uint16_t>(list, at + 28);
    const uint64_t local = number_at<uint32_t>(list, at + 42);
    const size_t more =
        size_t{number_at<uint16_t>(list, at + 30)} + size_t{number_at<uint16_t>(list, at + 32)};
    at += kEntryBytes;
    if (list.size() - at < name_bytes + more) {
      return invalid_input("\"{}\": entry {} of {} goes beyond the list.", archive.name, i, count);
    }
    const std::string name(reinterpret_cast<const char*>(list.data()) + at, name_bytes);
    at += name_bytes + more;
    if (method != 0 || packed != bytes) {
      return unsupported("\"{}\": \"{}\" is compressed; expected files stored as they are.",
                         archive.name, printable(name));
    }
    const auto beyond = [&] {
      return invalid_input("\"{}\": \"{}\" goes beyond the end of the archive.", archive.name,
                           printable(name));
    };
    if (local > archive.bytes || archive.bytes - local < kLocalBytes) return beyond();
    TOK_TRY(const FileBytes header, source.view(archive.offset + local, kLocalBytes));
    if (number_at<uint32_t>(header, 0) != kLocal) {
      return invalid_input("\"{}\": there is no header of \"{}\" at byte {}.", archive.name,
                           printable(name), local);
    }
    const uint64_t begin =
        local + kLocalBytes + number_at<uint16_t>(header, 26) + number_at<uint16_t>(header, 28);
    if (begin > archive.bytes || bytes > archive.bytes - begin) return beyond();
    files.push_back({name, archive.offset + begin, bytes});
  }
  return files;
}

Result<ArchivedFile> only_file(const std::vector<ArchivedFile>& files, std::string_view name) {
  const ArchivedFile* found = nullptr;
  for (const ArchivedFile& file : files) {
    if (file.name != name) continue;
    if (found != nullptr) return invalid_input("There are several files \"{}\".", name);
    found = &file;
  }
  if (found == nullptr) return invalid_input("There is no file \"{}\" in the archive.", name);
  return *found;
}

}  // namespace tokamak
