// Files that the page of a browser module reads: see web/tokamak-web/src/host/file.ts.
#include <array>
#include <utility>

#include "formats/piecewise_source.h"

#define FILE_IMPORT(name) extern "C" __attribute__((import_module("file"), import_name(#name)))

/// Fills all `bytes`; 0, or -1. The module is suspended until they are there.
FILE_IMPORT(read) int file_read(uint32_t id, double offset, void* out, uint32_t bytes);
/// Why the last read failed, as UTF-8 and at most `capacity` bytes of it; how many they are.
FILE_IMPORT(trouble) uint32_t file_trouble(char* out, uint32_t capacity);

#undef FILE_IMPORT

namespace tokamak {
namespace {

class HostFile final : public PiecewiseSource {
 public:
  HostFile(std::string name, uint64_t size, uint32_t id)
      : PiecewiseSource(std::move(name), size), id_(id) {}

 private:
  Result<void> fetch(uint64_t offset, std::span<std::byte> out) const override {
    if (file_read(id_, double(offset), out.data(), uint32_t(out.size())) == 0) return {};
    std::array<char, 500> reason;
    const uint32_t bytes = file_trouble(reason.data(), reason.size());
    return invalid_input("{}: {}", name(), std::string_view(reason.data(), bytes));
  }

  uint32_t id_;
};

}  // namespace

std::shared_ptr<ByteSource> host_file(std::string name, uint64_t size, uint32_t id) {
  return std::make_shared<HostFile>(std::move(name), size, id);
}

}  // namespace tokamak
