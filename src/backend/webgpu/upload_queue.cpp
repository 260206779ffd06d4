// Without threads: one constant after another through the queue's own writes.
#include <algorithm>
#include <array>

#include "backend/webgpu/upload.h"

namespace tokamak {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;
/// The bytes that may wait in the implementation's staging memory before the queue must catch up.
constexpr uint64_t kBytesInFlight = uint64_t{64} << 20;

/// Writes pieces of constants, and waits now and then.
class Uploader {
 public:
  explicit Uploader(WebGpuDevice& device) : device_(device) {}

  Result<void> add(const UploadJob& job, uint64_t offset, std::span<const std::byte> bytes) {
    check_piece(job, offset, bytes.size());
    given_ += bytes.size();
    for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
      TOK_TRY(write(job.buffer, offset + at,
                    bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at))));
    }
    return {};
  }

  /// Bytes, of all constants.
  uint64_t given() const { return given_; }

 private:
  /// The queue takes multiples of four bytes.
  Result<void> write(WGPUBuffer buffer, uint64_t offset, std::span<const std::byte> bytes) {
    std::array<std::byte, 4> last = {};
    const size_t whole = bytes.size() / last.size() * last.size();
    wgpuQueueWriteBuffer(device_.queue(), buffer, offset, bytes.data(), whole);
    if (whole < bytes.size()) {
      std::ranges::copy(bytes.subspan(whole), last.begin());
      wgpuQueueWriteBuffer(device_.queue(), buffer, offset + whole, last.data(), last.size());
    }
    in_flight_ += bytes.size();
    if (in_flight_ < kBytesInFlight) return {};
    in_flight_ = 0;
    wgpuQueueSubmit(device_.queue(), 0, nullptr);
    return device_.wait_for_queue();
  }

  WebGpuDevice& device_;
  uint64_t given_ = 0, in_flight_ = 0;
};

}  // namespace

Result<void> upload_constants(WebGpuDevice& device, std::vector<UploadJob> jobs,
                              const ConstantReader& constants, const LoadProgress& progress) {
  uint64_t total = 0, done = 0;
  for (const UploadJob& job : jobs) total += job.bytes;
  Uploader uploader(device);
  for (const UploadJob& job : jobs) {
    TOK_TRY(constants(*job.constant, {}, [&](uint64_t offset, std::span<const std::byte> bytes) {
      return uploader.add(job, offset, bytes);
    }));
    done += job.bytes;
    TOK_CHECK(uploader.given() == done);
    TOK_TRY(device.status());
    if (progress && !progress(done, total)) return loading_cancelled();
  }
  wgpuQueueSubmit(device.queue(), 0, nullptr);
  return {};
}

}  // namespace tokamak
