#include <algorithm>
#include <utility>

#include "formats/byte_source.h"

namespace tokamak {
namespace {

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::vector<std::byte> bytes)
      : ByteSource(std::move(name), bytes.size()), bytes_(std::move(bytes)) {}

  Result<FileBytes> view(uint64_t offset, uint64_t length) const override {
    TOK_TRY(check_range(offset, length));
    return FileBytes(std::span(bytes_).subspan(size_t(offset), size_t(length)));
  }

  Result<void> read(uint64_t offset, std::span<std::byte> out) const override {
    TOK_TRY(const FileBytes bytes, view(offset, out.size()));
    std::ranges::copy(bytes, out.begin());
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

Result<void> ByteSource::check_range(uint64_t offset, uint64_t length) const {
  if (offset > size_ || length > size_ - offset) {
    return invalid_input("{}: The file has {} bytes, but {} bytes at byte {} are needed.", name_,
                         size_, length, offset);
  }
  return {};
}

std::shared_ptr<ByteSource> memory_source(std::string name, std::vector<std::byte> bytes) {
  return std::make_shared<MemorySource>(std::move(name), std::move(bytes));
}

}  // namespace tokamak
