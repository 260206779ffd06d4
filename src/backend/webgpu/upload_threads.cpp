// With threads: workers read shares of constants into mapped staging memory, several at a time,
// since reading (page faults of a mapped file, repacking of quantised blocks) is what takes the
// time. Only the calling thread speaks to the device: it copies what has been filled and maps it
// anew.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "backend/native_upload.h"
#include "backend/webgpu/upload.h"
#include "base/bits.h"
#include "base/guarded.h"

namespace tokamak {
namespace {

constexpr uint64_t kMaxChunkBytes = uint64_t{4} << 20, kMinChunkBytes = uint64_t{64} << 10;
constexpr size_t kMaxChunks = 12;  // 48 MiB: see loading in docs/performance.md

/// The content of a chunk: `size` bytes at `offset`, for `target` from `target_offset` on.
struct Piece {
  WGPUBuffer target;
  uint64_t target_offset, offset, size;
};

struct Chunk {
  BufferHandle staging;
  uint64_t bytes = 0;
  std::byte* memory = nullptr;  // while mapped
  uint64_t used = 0;
  std::vector<Piece> pieces;
};

/// The chunks on their way between the workers and the calling thread.
class Exchange {
 public:
  void give_free(Chunk* chunk) {
    const std::lock_guard lock(mutex_);
    free_.push_back(chunk);
    worker_can_go_.notify_one();
  }

  /// Null when the upload has failed.
  Chunk* take_free() {
    std::unique_lock lock(mutex_);
    worker_can_go_.wait(lock, [&] { return stopped_ || !free_.empty(); });
    if (stopped_) return nullptr;
    Chunk* chunk = free_.front();
    free_.pop_front();
    return chunk;
  }

  void give_filled(Chunk* chunk) {
    const std::lock_guard lock(mutex_);
    filled_.push_back(chunk);
    caller_can_go_.notify_one();
  }

  /// Waits at most a moment, since finished mappings announce themselves only when asked.
  Chunk* take_filled() {
    std::unique_lock lock(mutex_);
    caller_can_go_.wait_for(lock, std::chrono::microseconds(200),
                            [&] { return !filled_.empty() || workers_ == 0; });
    if (filled_.empty()) return nullptr;
    Chunk* chunk = filled_.front();
    filled_.pop_front();
    return chunk;
  }

  void stop(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    stopped_ = true;
    worker_can_go_.notify_all();
  }

  void worker_begins() {
    const std::lock_guard lock(mutex_);
    ++workers_;
  }
  void worker_ends() {
    const std::lock_guard lock(mutex_);
    --workers_;
    caller_can_go_.notify_one();
  }

  bool finished() {
    const std::lock_guard lock(mutex_);
    return workers_ == 0 && filled_.empty();
  }
  std::optional<Error> error() {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable worker_can_go_, caller_can_go_;
  std::deque<Chunk*> free_, filled_;
  size_t workers_ = 0;
  bool stopped_ = false;
  std::optional<Error> error_;
};

using Task = UploadTask<UploadJob>;

/// One thread's part: takes tasks until there are none left.
class Worker {
 public:
  Worker(Exchange& exchange, const ConstantReader& constants)
      : exchange_(exchange), constants_(constants) {}

  Result<void> load(const Task& task) {
    return constants_(*task.job->constant, task.share,
                      [&](uint64_t offset, std::span<const std::byte> bytes) {
                        return add(*task.job, offset, bytes);
                      });
  }

  void finish() {
    if (chunk_ != nullptr) exchange_.give_filled(std::exchange(chunk_, nullptr));
  }

 private:
  Result<void> add(const UploadJob& job, uint64_t offset, std::span<const std::byte> bytes) {
    check_piece(job, offset, bytes.size());
    while (!bytes.empty()) {
      if (!room(job.buffer, offset)) return fail(ErrorCode::kCancelled, "Loading has failed.");
      const size_t size = std::min<size_t>(bytes.size(), chunk_->bytes - chunk_->used);
      std::copy_n(bytes.begin(), size, chunk_->memory + chunk_->used);
      // The next piece begins at an offset that copies may start from.
      chunk_->used += round_up<uint64_t>(size, 4);
      chunk_->pieces.back().size += size;
      offset += size;
      bytes = bytes.subspan(size);
    }
    return {};
  }

  /// Sees to it that the chunk has room, and that its last piece goes on at `offset` of `target`.
  /// False when the upload has failed.
  bool room(WGPUBuffer target, uint64_t offset) {
    if (chunk_ != nullptr && chunk_->used == chunk_->bytes) finish();
    if (chunk_ == nullptr) chunk_ = exchange_.take_free();
    if (chunk_ == nullptr) return false;
    const Piece* last = chunk_->pieces.empty() ? nullptr : &chunk_->pieces.back();
    const bool follows =
        last != nullptr && last->target == target && last->target_offset + last->size == offset;
    if (!follows) chunk_->pieces.push_back({target, offset, chunk_->used, 0});
    return true;
  }

  Exchange& exchange_;
  const ConstantReader& constants_;
  Chunk* chunk_ = nullptr;
};

/// The calling thread's part.
class Copier {
 public:
  Copier(WebGpuDevice& device, Exchange& exchange) : device_(device), exchange_(exchange) {}

  Result<void> make_chunks(size_t count, uint64_t bytes) {
    chunks_.resize(count);
    Checks checks(device_);
    checks.run("staging memory for weights", [&] {
      for (Chunk& chunk : chunks_) {
        const WGPUBufferDescriptor descriptor = {
            .label = wgpu_text("weights on their way"),
            .usage = WGPUBufferUsage_MapWrite | WGPUBufferUsage_CopySrc,
            .size = bytes,
            .mappedAtCreation = true};
        chunk.bytes = bytes;
        chunk.staging = BufferHandle(wgpuDeviceCreateBuffer(device_.handle(), &descriptor));
      }
    });
    TOK_TRY(checks.finish());
    for (Chunk& chunk : chunks_) TOK_TRY(offer(chunk));
    return {};
  }

  Result<uint64_t> copy(Chunk& chunk) {
    uint64_t bytes = 0;
    wgpuBufferUnmap(chunk.staging.get());
    const EncoderHandle encoder(wgpuDeviceCreateCommandEncoder(device_.handle(), nullptr));
    for (const Piece& piece : chunk.pieces) {
      // Buffers are longer than their constants by what this rounding adds.
      wgpuCommandEncoderCopyBufferToBuffer(encoder.get(), chunk.staging.get(), piece.offset,
                                           piece.target, piece.target_offset,
                                           round_up<uint64_t>(piece.size, 4));
      bytes += piece.size;
    }
    const CommandsHandle commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
    const WGPUCommandBuffer list = commands.get();
    wgpuQueueSubmit(device_.queue(), 1, &list);
    TOK_TRY(device_.status());
    map(chunk);
    return bytes;
  }

  /// Hands out what has been mapped meanwhile.
  Result<void> poll() {
    device_.process_events();
    TOK_TRY(device_.status());
    for (Chunk* chunk : std::exchange(mapped_->chunks, {})) TOK_TRY(offer(*chunk));
    if (!mapped_->problem.empty()) return fail(ErrorCode::kDevice, "{}", mapped_->problem);
    return {};
  }

 private:
  /// The target of mapping callbacks; some of them run after the upload has ended.
  struct Mapped {
    std::vector<Chunk*> chunks;
    std::string problem;
  };
  struct Mapping {
    std::shared_ptr<Mapped> mapped;
    Chunk* chunk;
  };

  void map(Chunk& chunk) {
    const auto on_mapped = [](WGPUMapAsyncStatus status, WGPUStringView message, void* raw, void*) {
      const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(raw));
      if (status == WGPUMapAsyncStatus_Success) {
        mapping->mapped->chunks.push_back(mapping->chunk);
      } else {
        mapping->mapped->problem = "Staging memory cannot be mapped. " + text_of(message);
      }
    };
    wgpuBufferMapAsync(chunk.staging.get(), WGPUMapMode_Write, 0, chunk.bytes,
                       {.mode = WGPUCallbackMode_AllowProcessEvents,
                        .callback = on_mapped,
                        .userdata1 = new Mapping{mapped_, &chunk}});
  }

  Result<void> offer(Chunk& chunk) {
    void* memory = wgpuBufferGetMappedRange(chunk.staging.get(), 0, chunk.bytes);
    if (memory == nullptr) return fail(ErrorCode::kDevice, "Staging memory cannot be mapped.");
    chunk.memory = static_cast<std::byte*>(memory);
    chunk.used = 0;
    chunk.pieces.clear();
    exchange_.give_free(&chunk);
    return {};
  }

  WebGpuDevice& device_;
  Exchange& exchange_;
  std::deque<Chunk> chunks_;
  std::shared_ptr<Mapped> mapped_ = std::make_shared<Mapped>();
};

}  // namespace

Result<void> upload_constants(WebGpuDevice& device, std::vector<UploadJob> jobs,
                              const ConstantReader& constants, const LoadProgress& progress) {
  uint64_t total = 0, done = 0;
  for (const UploadJob& job : jobs) total += job.bytes;
  const std::vector<Task> tasks = divide_upload(jobs);
  Exchange exchange;
  Copier copier(device, exchange);
  const size_t workers =
      std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMaxUploadThreads);
  // Devices set staging memory to zeros first, which must not take longer than a small model does.
  const uint64_t chunk_bytes = std::clamp(
      round_up<uint64_t>(ceil_div<uint64_t>(total, workers), 4096), kMinChunkBytes, kMaxChunkBytes);
  TOK_TRY(copier.make_chunks(
      std::min(kMaxChunks, workers + size_t(ceil_div<uint64_t>(total, chunk_bytes))), chunk_bytes));

  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  const auto load_some = [&] {
    Worker worker(exchange, constants);
    for (size_t task = next++; task < tasks.size(); task = next++) {
      Result<void> status = guarded([&] { return worker.load(tasks[task]); });
      if (status) continue;
      exchange.stop(std::move(status).error());
      break;
    }
    worker.finish();
    exchange.worker_ends();
  };
  for (size_t i = 0; i < workers; ++i) {
    exchange.worker_begins();
    const Result<void> started = guarded([&]() -> Result<void> {
      threads.emplace_back(load_some);
      return {};
    });
    if (started) continue;
    exchange.worker_ends();
    if (threads.empty()) return started;
    break;  // fewer threads load as much
  }
  while (!exchange.finished()) {
    if (Chunk* chunk = exchange.take_filled()) {
      auto bytes = copier.copy(*chunk);
      if (!bytes) {
        exchange.stop(std::move(bytes).error());
        break;
      }
      done += *bytes;
      if (progress && !progress(done, total)) {
        exchange.stop(loading_cancelled().error());
        break;
      }
    }
    if (Result<void> status = copier.poll(); !status) {
      exchange.stop(std::move(status).error());
      break;
    }
  }
  threads.clear();
  if (auto error = exchange.error()) return Failure(*std::move(error));
  TOK_CHECK(done == total);
  return {};
}

}  // namespace tokamak
