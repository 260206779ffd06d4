#include "apps/cli/line/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "apps/cli/line/terminal.h"
#include "base/system/file.h"
#include "base/system/path_text.h"

namespace tokamak::cli {
namespace {

namespace fs = std::filesystem;

Failure cannot_write(const std::string& path, std::string_view reason) {
  return output_failure("{}: The file cannot be written: {}.", path, reason);
}
Failure cannot_write(const std::string& path) {
  return cannot_write(path, std::strerror(errno));
}

/// The path of the file that links lead to; "" for anything but a plain file.
std::string place_of(const std::string& path) {
  std::error_code failed;
  if (!fs::exists(path_of(path), failed)) return path;
  if (!fs::is_regular_file(path_of(path), failed)) return "";
  const fs::path real = fs::canonical(path_of(path), failed);
  return failed ? path : text_of(real);
}

}  // namespace

Result<void> check_output(const std::string& path) {
  if (path.empty()) return {};
  const std::string place = place_of(path);
  if (file_state(path)) {
    if (const auto writable = check_writable(path); !writable) {
      return cannot_write(path, writable.error().message);
    }
  }
  if (place.empty()) {
    if (fs::is_directory(path_of(path)))
      return output_failure("{}: Expected a file but found a directory.", path);
    return {};
  }
  errno = 0;
  const WholeFile file(place);  // gone with the object
  if (!file.good()) return cannot_write(path);
  return {};
}

Result<void> write_output(const std::string& path, std::string_view text) {
  const std::string place = place_of(path);
  const auto bytes = std::as_bytes(std::span(text));
  errno = 0;
  if (place.empty()) {
    std::ofstream file(path_of(path), std::ios::binary);
    file.write(text.data(), std::streamsize(text.size()));
    file.close();
    if (!file.good()) return cannot_write(path);
    return {};
  }
  WholeFile file(place);
  file.put(bytes);
  if (!file.commit()) return cannot_write(path);
  return {};
}

Result<void> put_piece(WholeFile& file, std::span<const std::byte> bytes, const std::string& path) {
  file.put(bytes);
  return file.good() ? Result<void>() : Result<void>(unfinished_output(path));
}

Failure unfinished_output(const std::string& path) {
  return output_failure("{}: The file cannot be written; is the disk full?", path);
}

}  // namespace tokamak::cli
