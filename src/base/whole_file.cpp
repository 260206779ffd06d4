#include "base/whole_file.h"

#include <atomic>
#include <filesystem>
#include <random>

#include "base/result.h"
#include "base/system/path_text.h"

namespace tokamak {
namespace {

constexpr std::string_view kPartial = ".partial";

/// A suffix that no other file has that is being written beside this one.
std::string own_suffix() {
  static const unsigned run = std::random_device()();
  static std::atomic<unsigned> count = 0;
  return fmt::format("{:08x}-{}{}", run, count.fetch_add(1), kPartial);
}

}  // namespace

bool is_partial_of(std::string_view name, std::string_view ending) {
  if (!name.ends_with(kPartial)) return false;
  name.remove_suffix(kPartial.size());
  const size_t suffix = name.rfind('.');
  return suffix != name.npos && name.substr(0, suffix).ends_with(ending);
}

WholeFile::WholeFile(std::string path)
    : path_(std::move(path)),
      partial_(path_ + "." + own_suffix()),
      file_(path_of(partial_), std::ios::binary | std::ios::trunc) {}

WholeFile::~WholeFile() {
  file_.close();
  std::error_code gone_already;
  std::filesystem::remove(path_of(partial_), gone_already);
}

void WholeFile::put(std::span<const std::byte> bytes) {
  file_.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

bool WholeFile::commit() {
  file_.close();
  std::error_code failed;
  if (file_.good()) std::filesystem::rename(path_of(partial_), path_of(path_), failed);
  return file_.good() && !failed;
}

}  // namespace tokamak
