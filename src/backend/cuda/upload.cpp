// Threads read shares of constants into pinned chunks of their own, each with a stream of its own:
// while one of a thread's chunks is on its way, it fills the other.
#include "backend/cuda/upload.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <thread>

#include "backend/native_upload.h"
#include "base/check.h"
#include "base/guarded.h"

namespace tokamak::cuda {
namespace {

constexpr size_t kChunkBytes = size_t{4} << 20;
constexpr size_t kChunks = 2;  // of a thread

using Task = UploadTask<UploadJob>;

/// The state that the threads and the one that waits for them share.
class Tally {
 public:
  explicit Tally(size_t tasks) : tasks_(tasks) {}

  /// The number of a task that nobody has taken, or that of tasks when there is none or all stop.
  size_t take() {
    const std::lock_guard lock(mutex_);
    return error_ || next_ == tasks_ ? tasks_ : next_++;
  }
  void add(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    done_ += bytes;
    changed_.notify_one();
  }
  void stop(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    changed_.notify_one();
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    ++left_;
    changed_.notify_one();
  }
  bool is_stopped() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }

  /// Calls `progress` at changes until all `workers` have left, and then once more.
  void wait(size_t workers, uint64_t total, const LoadProgress& progress) {
    std::unique_lock lock(mutex_);
    uint64_t told = 0;
    for (bool is_last = false; !is_last;) {
      changed_.wait(lock, [&] { return left_ == workers || done_ != told; });
      told = done_;
      is_last = left_ == workers;
      lock.unlock();
      if (progress && !progress(told, total)) stop(loading_cancelled().error());
      lock.lock();
    }
  }
  Result<void> result(uint64_t total) {
    if (error_) return Failure(*error_);
    TOK_CHECK(done_ == total);
    return {};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t tasks_, next_ = 0, left_ = 0;
  uint64_t done_ = 0;
  std::optional<Error> error_;
};

class Worker {
 public:
  Worker(std::shared_ptr<CudaDevice> device, Tally& tally)
      : device_(std::move(device)), tally_(tally) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (stream_ != nullptr && device_->enter()) device_->api().stream_destroy(stream_);
  }

  Result<void> begin() {
    TOK_TRY(device_->enter());
    TOK_TRY(
        device_->check(device_->api().stream_create(&stream_, kStreamNonBlocking), "No stream"));
    for (Chunk& chunk : chunks_) {
      TOK_TRY(chunk.memory, PinnedMemory::make(device_, kChunkBytes));
      TOK_TRY(chunk.sent, Mark::make(device_));
    }
    return {};
  }

  Result<void> load(const Task& task, const ConstantReader& constants) {
    return constants(*task.job->constant, task.share,
                     [&](uint64_t offset, std::span<const std::byte> bytes) {
                       return send(*task.job, offset, bytes);
                     });
  }

  Result<void> finish() {
    return device_->check(device_->api().stream_synchronize(stream_), "Weights do not arrive");
  }

 private:
  struct Chunk {
    PinnedMemory memory;
    Mark sent;
  };

  Result<void> send(const UploadJob& job, uint64_t offset, std::span<const std::byte> bytes) {
    TOK_CHECK(offset + bytes.size() <= job.bytes);
    while (!bytes.empty()) {
      if (tally_.is_stopped()) return fail(ErrorCode::kCancelled, "Loading has failed.");
      const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kChunkBytes));
      if (job.on_host) {
        std::memcpy(reinterpret_cast<std::byte*>(job.memory + offset), piece.data(), piece.size());
      } else {
        TOK_TRY(copy(job.memory + offset, piece));
      }
      tally_.add(piece.size());
      offset += piece.size();
      bytes = bytes.subspan(piece.size());
    }
    return {};
  }

  /// At most a chunk.
  Result<void> copy(DevicePointer to, std::span<const std::byte> bytes) {
    Chunk& chunk = chunks_[next_++ % kChunks];
    TOK_TRY(chunk.sent.wait());  // of what was in it
    std::memcpy(chunk.memory.data(), bytes.data(), bytes.size());
    TOK_TRY(device_->check(
        device_->api().copy_to_device_async(to, chunk.memory.data(), bytes.size(), stream_),
        "Weights cannot be copied"));
    return chunk.sent.record(stream_);
  }

  std::shared_ptr<CudaDevice> device_;
  Tally& tally_;
  Stream stream_ = nullptr;
  Chunk chunks_[kChunks];
  size_t next_ = 0;
};

/// One thread's part: takes tasks until there are none left.
Result<void> work(const std::shared_ptr<CudaDevice>& device, const std::vector<Task>& tasks,
                  const ConstantReader& constants, Tally& tally) {
  Worker worker(device, tally);
  TOK_TRY(worker.begin());
  for (size_t task = tally.take(); task < tasks.size(); task = tally.take()) {
    TOK_TRY(worker.load(tasks[task], constants));
  }
  return worker.finish();
}

}  // namespace

Result<void> upload_constants(const std::shared_ptr<CudaDevice>& device,
                              std::vector<UploadJob> jobs, const ConstantReader& constants,
                              const LoadProgress& progress) {
  uint64_t total = 0;
  for (const UploadJob& job : jobs) total += job.bytes;
  const std::vector<Task> tasks = divide_upload(jobs);
  Tally tally(tasks.size());
  const size_t workers = std::clamp<size_t>(
      std::min<size_t>(std::thread::hardware_concurrency(), tasks.size()), 1, kMaxUploadThreads);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < workers; ++i) {
      threads.emplace_back([&] {
        const Result<void> status = guarded([&] { return work(device, tasks, constants, tally); });
        if (!status) tally.stop(status.error());
        tally.leave();
      });
    }
    tally.wait(workers, total, progress);
  }
  return tally.result(total);
}

}  // namespace tokamak::cuda
