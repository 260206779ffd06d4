// Backend: one device that runs plans. Program: one plan on it, with its weights and caches.
//
// Nothing here blocks unless it says so: submit() enqueues, poll() collects. In a browser only
// those two exist in practice; wait() is for native programs.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/pieces.h"
#include "plan/plan.h"

namespace tokamak {

/// Gives the bytes of one share of a constant, each once, piece by piece, so that no whole tensor
/// needs to be in memory twice. Several threads may call it at once, each for another share.
using ConstantReader =
    std::function<Result<void>(const TensorDesc& tensor, Share share, const WriteBytes& write)>;

/// Called now and then, by the thread that loads: bytes loaded so far, bytes in all. False ends the
/// loading with loading_cancelled().
using LoadProgress = std::function<bool(uint64_t done, uint64_t total)>;

inline Failure loading_cancelled() {
  return fail(ErrorCode::kCancelled, "Loading the model was cancelled.");
}

/// The data that a step reads of one of its inputs of BufferUse::kInput.
struct InputWrite {
  BufferId buffer = {};
  std::span<const std::byte> bytes;  // of the step's rows
};

struct StepRequest {
  size_t phase = 0;
  std::vector<Slot> slots;           // the sequences that have rows in the step, slot by slot
  std::span<const uint32_t> tokens;  // of their rows; copied by submit(), as all spans are
  /// The rows whose results are wanted; none: the last of each slot. Of phases that end in them.
  std::span<const uint32_t> outputs = {};
  std::span<const InputWrite> inputs = {};
  /// Receives the phase's result, rows of f32, valid during the call; or why there is none. Null:
  /// the result is not read back.
  std::function<void(Result<std::span<const float>>)> done;
  /// The phase runs that many times, one after the other, on the batch that the device makes for
  /// itself; 0: not at all, for `done` to receive what the last step has left. REQUIRES: at most 1,
  /// or a phase that chooses tokens.
  uint32_t repeat = 1;
  /// The operand that `done` receives; null: the phase's result. REQUIRES: one that no step of the
  /// phase after its own overwrites.
  const Operand* result = nullptr;
  /// That number of bytes of it, from there on, multiples of 4; 0 bytes: all of the step's.
  uint64_t result_first = 0, result_bytes = 0;
  /// The batch is what the device made of the last one; slots, tokens and outputs are not read.
  bool continues = false;
  /// Made before the phase runs, one after the other. REQUIRES: none is within one buffer.
  std::span<const BufferCopy> copies = {};
  /// Whether nobody wants the step any more, which a program that runs it within submit() looks at
  /// between launches: `done` receives kCancelled then, and the states of its slots are of no use.
  std::function<bool()> cancelled = {};
};

/// The work of compile(), for `bench` and `doctor`.
struct CompileReport {
  uint32_t pipelines = 0, cached = 0;  // cached: of them, those that an earlier run compiled
  double compile_seconds = 0;
  double load_seconds = 0;
  std::string cache_problem;  // why some could not be kept for later runs; "": all were
};

class Program {
 public:
  virtual ~Program() = default;
  /// Which sequence its states hold: one that begins takes a new number, and one that finds another
  /// number than its own has lost its states to that.
  uint64_t sequence() const { return sequence_; }
  uint64_t begin_sequence() { return ++sequence_; }
  virtual const Plan& plan() const = 0;
  virtual CompileReport report() const { return {}; }
  /// Overwrites a buffer from word `first` on: a page table; in tests also states and activations,
  /// with noise that no result may contain. REQUIRES: the buffer has at least that size.
  virtual Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                                   uint64_t first = 0) = 0;
  /// Enqueues one step. REQUIRES: the rows fit the phase, slots have
  /// different indices, and every row's position has a page.
  virtual Result<void> submit(const StepRequest& request) = 0;
  /// Runs the callbacks of what has finished.
  virtual Result<void> poll() = 0;
  /// Blocks until the oldest result that was asked for and not delivered has been. An error here
  /// and in wait() has been given to every `done` that was waiting.
  virtual Result<void> wait_for_result() { return wait(); }
  /// Takes what was submitted since the last call as one batch, and blocks until no more than
  /// `most` batches are unfinished: for callers that must not run far ahead of the device.
  virtual Result<void> limit_batches(uint32_t) { return wait(); }
  /// Blocks until everything submitted has finished and its callbacks have run.
  virtual Result<void> wait() = 0;
  /// After kDeviceLost, which `loss` is: makes the program again on a fresh device of the same
  /// kind, from the same plan; tables and states hold zeros. Results that were on their way are not
  /// delivered any more. Errors: `loss` itself where nothing can be made again, or why it failed;
  /// restore() may be called again then.
  virtual Result<void> restore(const Error& loss) { return Failure(loss); }
  /// Runs one step, each launch by itself, and gives the seconds of each: for profiles. As
  /// submit(), but blocks and leaves `done` alone. kUnsupported on a device without a clock.
  virtual Result<std::vector<double>> time_launches(const StepRequest&) {
    return unsupported("This backend has no clock for kernels.");
  }
  /// The same of every rank: where ranks meet, one waits for the others.
  virtual Result<std::vector<std::vector<double>>> time_ranks(const StepRequest& request) {
    TOK_TRY(std::vector<double> seconds, time_launches(request));
    return std::vector<std::vector<double>>{std::move(seconds)};
  }

  /// Makes it rank `own` of a plan for several: what each of `ranks` gives in its collective ops,
  /// the others read. Called once for each, in their order, before the first step; all are of one
  /// kind of backend and have the same plan.
  virtual Result<void> connect(std::span<Program* const> /*ranks*/, size_t /*own*/) {
    return unsupported("This backend runs a model on one device only.");
  }

 private:
  uint64_t sequence_ = 0;
};

/// The memory of one device.
struct DeviceMemoryUse {
  uint64_t bytes = 0;       // of buffers alive
  uint64_t free_bytes = 0;  // that nobody has taken; 0 where the backend cannot tell
  bool operator==(const DeviceMemoryUse&) const = default;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DeviceInfo& device() const = 0;
  /// Allocates buffers, compiles kernels, loads constants.
  virtual Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                                   const LoadProgress& progress = {}) = 0;
  /// Bytes of buffers alive on the device.
  virtual uint64_t device_bytes() const = 0;
  /// Bytes of the device's memory that nobody has taken; 0 where the backend cannot tell.
  virtual uint64_t free_bytes() const { return 0; }
  /// The memory of each of its devices.
  virtual std::vector<DeviceMemoryUse> memory_use() const {
    return {{.bytes = device_bytes(), .free_bytes = free_bytes()}};
  }
  /// The backends that it runs a plan on one after the other (backend/stages.h); none where it has
  /// one device, or ranks.
  virtual std::span<const std::unique_ptr<Backend>> stages() const { return {}; }
};

/// The reference backend: every step by its naive f32 function with f64 sums.
std::unique_ptr<Backend> make_cpu_backend();

/// The processor as a device: kernels for its vectors on that many threads, 0: on all cores that
/// the process may use. What has no such kernel is computed as the reference does. Null where
/// the build or the processor has none of them.
std::unique_ptr<Backend> make_vector_backend(uint32_t threads = 0, Features disabled = 0);

}  // namespace tokamak
