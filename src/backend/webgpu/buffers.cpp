#include "backend/webgpu/buffers.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;
/// What may wait in the implementation's staging memory before the queue must catch up.
constexpr uint64_t kBytesInFlight = uint64_t{64} << 20;

WGPUBufferUsage usage_of(BufferUse use) {
  const WGPUBufferUsage usage =
      WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc;
  return use == BufferUse::kFrame ? usage | WGPUBufferUsage_Uniform : usage;
}

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

std::string buffer_label(const Buffer& buffer) {
  return buffer.tensor.name.empty() ? std::string(use_name(buffer.use)) : buffer.tensor.name;
}

}  // namespace

Result<DeviceBuffers> DeviceBuffers::make(std::shared_ptr<WebGpuDevice> device, const Plan& plan) {
  WebGpuDevice& gpu = *device;
  DeviceBuffers buffers(std::move(device));
  for (const Buffer& buffer : plan.buffers) {
    const std::string label = buffer_label(buffer);
    const WGPUBufferDescriptor descriptor = {
        .label = wgpu_text(label), .usage = usage_of(buffer.use), .size = buffer.bytes};
    TOK_TRY(gpu.checked(
        fmt::format("{} \"{}\" of {} bytes", use_name(buffer.use), label, buffer.bytes),
        [&] { buffers.all_.emplace_back(wgpuDeviceCreateBuffer(gpu.handle(), &descriptor)); }));
    buffers.bytes_ += int64_t(buffer.bytes);
    gpu.count_bytes(int64_t(buffer.bytes));
  }
  return buffers;
}

DeviceBuffers::~DeviceBuffers() {
  if (device_ != nullptr) device_->count_bytes(-bytes_);
}

Result<void> DeviceBuffers::load(const Plan& plan, const ConstantReader& constants,
                                 const LoadProgress& progress) {
  const uint64_t total = footprint(plan).constants;
  uint64_t done = 0, in_flight = 0;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.use != BufferUse::kConstant) continue;
    const uint64_t expected = byte_count(buffer.tensor, 1);
    Upload upload(*device_, all_[i].get(), in_flight);
    TOK_TRY(constants(buffer.tensor, [&](std::span<const std::byte> bytes) {
      TOK_CHECK(upload.given() + bytes.size() <= expected);
      return upload.add(bytes);
    }));
    TOK_CHECK(upload.given() == expected);
    TOK_TRY(upload.finish());
    TOK_TRY(device_->status());
    done += buffer.bytes;
    if (progress) progress(done, total);
  }
  wgpuQueueSubmit(device_->queue(), 0, nullptr);
  return {};
}

}  // namespace tokamak
