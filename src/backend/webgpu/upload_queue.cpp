// Without threads: one constant after another through the queue's own writes.
#include <algorithm>
#include <array>

#include "backend/webgpu/upload.h"
#include "base/check.h"

namespace tokamak {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;
/// What may wait in the implementation's staging memory before the queue must catch up.
constexpr uint64_t kBytesInFlight = uint64_t{64} << 20;

/// Writes one constant from pieces of any length. The queue takes multiples of four bytes, so up to
/// three wait here for the next piece.
class Upload {
 public:
  Upload(WebGpuDevice& device, WGPUBuffer buffer, uint64_t& in_flight)
      : device_(device), buffer_(buffer), in_flight_(in_flight) {}

  Result<void> add(std::span<const std::byte> bytes) {
    given_ += bytes.size();
    if (kept_ > 0) {
      const size_t taken = std::min(bytes.size(), word_.size() - kept_);
      std::copy_n(bytes.begin(), taken, word_.begin() + std::ptrdiff_t(kept_));
      kept_ += taken;
      bytes = bytes.subspan(taken);
      if (kept_ < word_.size()) return {};
      TOK_TRY(write(word_));
      kept_ = 0;
    }
    while (bytes.size() >= word_.size()) {
      const size_t size = std::min(bytes.size() / word_.size() * word_.size(), kPieceBytes);
      TOK_TRY(write(bytes.first(size)));
      bytes = bytes.subspan(size);
    }
    std::copy(bytes.begin(), bytes.end(), word_.begin());
    kept_ = bytes.size();
    return {};
  }

  Result<void> finish() {
    if (kept_ == 0) return {};
    std::fill(word_.begin() + std::ptrdiff_t(kept_), word_.end(), std::byte{0});
    return write(word_);
  }

  uint64_t given() const { return given_; }

 private:
  Result<void> write(std::span<const std::byte> bytes) {
    wgpuQueueWriteBuffer(device_.queue(), buffer_, written_, bytes.data(), bytes.size());
    written_ += bytes.size();
    in_flight_ += bytes.size();
    if (in_flight_ < kBytesInFlight) return {};
    in_flight_ = 0;
    wgpuQueueSubmit(device_.queue(), 0, nullptr);
    return device_.wait_for_queue();
  }

  WebGpuDevice& device_;
  WGPUBuffer buffer_;
  uint64_t& in_flight_;
  uint64_t given_ = 0, written_ = 0;
  std::array<std::byte, 4> word_ = {};
  size_t kept_ = 0;
};

}  // namespace

Result<void> upload_constants(WebGpuDevice& device, std::vector<UploadJob> jobs,
                              const ConstantReader& constants, const LoadProgress& progress) {
  uint64_t total = 0, done = 0, in_flight = 0;
  for (const UploadJob& job : jobs) total += job.bytes;
  for (const UploadJob& job : jobs) {
    Upload upload(device, job.buffer, in_flight);
    TOK_TRY(constants(*job.constant, [&](std::span<const std::byte> bytes) {
      TOK_CHECK(upload.given() + bytes.size() <= job.bytes);
      return upload.add(bytes);
    }));
    TOK_CHECK(upload.given() == job.bytes);
    TOK_TRY(upload.finish());
    TOK_TRY(device.status());
    done += job.bytes;
    if (progress) progress(done, total);
  }
  wgpuQueueSubmit(device.queue(), 0, nullptr);
  return {};
}

}  // namespace tokamak
