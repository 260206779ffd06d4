// Programs of processors, the reference's and those with vectors: buffers are memory, steps run one
// after the other, and packed matrices of kernels for vectors lie in panels.
#include "backend/cpu/program.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include "backend/cpu/meeting.h"
#include "backend/cpu/observe.h"
#include "base/check.h"
#include "base/seconds.h"
#include "base/system/huge_pages.h"
#include "kernels/cpu/thread_pool.h"

namespace tokamak {
namespace {

/// Zeros, of which the system makes no pages before they are used; large ones where it can.
class HostBuffer {
 public:
  explicit HostBuffer(uint64_t size) : size_(size) {
    const uint64_t alignment = size < kHugePageBytes ? kCacheLine : kHugePageBytes;
    if (size_t(size + alignment) != size + alignment) return;
    bytes_.reset(std::calloc(size_t(size + alignment), 1));
    void* first = bytes_.get();
    size_t space = size_t(size + alignment);
    data_ = static_cast<std::byte*>(std::align(size_t(alignment), size_t(size), first, space));
    if (data_ != nullptr && size >= kHugePageBytes) ask_for_huge_pages(data_, size_t(size));
  }
  bool exists() const { return bytes_ != nullptr; }
  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  static constexpr uint64_t kCacheLine = 64;
  std::unique_ptr<void, void (*)(void*)> bytes_{nullptr, std::free};
  std::byte* data_ = nullptr;
  uint64_t size_;
};

class CpuProgram : public Program {
 public:
  CpuProgram(Plan plan, std::shared_ptr<Vectors> vectors, std::shared_ptr<uint64_t> alive,
             LaunchObserver observer)
      : plan_(std::move(plan)),
        layout_(plan_.layout()),
        vectors_(std::move(vectors)),
        alive_(std::move(alive)),
        observer_(std::move(observer)) {
    find_panels();
  }
  ~CpuProgram() override {
    for (const HostBuffer& buffer : buffers_) *alive_ -= buffer.exists() ? buffer.size() : 0;
  }

  Result<void> allocate() {
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& buffer = plan_.buffers[i];
      const auto panels = panels_.find(i);
      const uint64_t bytes =
          panels == panels_.end() ? buffer.bytes : vectors_->bytes(*panels->second);
      if (buffers_.emplace_back(bytes).exists()) {
        *alive_ += bytes;
        continue;
      }
      return fail(ErrorCode::kOutOfMemory, "{} \"{}\" of {} bytes: out of memory.",
                  use_name(buffer.use), buffer.tensor.name, bytes);
    }
    return {};
  }

  Result<void> load(const ConstantReader& constants, const LoadProgress& progress) {
    const uint64_t total = footprint(plan_).constants;
    uint64_t done = 0, largest = 0;
    for (const auto& [i, panels] : panels_) largest = std::max(largest, plan_.buffers[i].bytes);
    const HostBuffer streams(largest);  // of one matrix after the other, before they are panels
    if (!streams.exists()) {
      return fail(ErrorCode::kOutOfMemory,
                  "A matrix of {} bytes: out of memory while it is loaded.", largest);
    }
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].use != BufferUse::kConstant) continue;
      const auto panels = panels_.find(i);
      const HostBuffer& to = panels == panels_.end() ? buffers_[i] : streams;
      TOK_TRY(read(plan_.buffers[i], constants, to));
      if (panels != panels_.end()) {
        const std::span<const std::byte> bytes(to.data(), size_t(plan_.buffers[i].bytes));
        vectors_->pack(*panels->second, bytes, buffers_[i].data());
      }
      done += plan_.buffers[i].bytes;
      if (progress && !progress(done, total)) return loading_cancelled();
    }
    return {};
  }

  const Plan& plan() const override { return plan_; }

  /// The first rank makes the place where all meet.
  Result<void> connect(std::span<Program* const> ranks, size_t own) override {
    if (plan_.ranks == 1) return {};  // each by itself
    rank_ = own;
    meeting_ = own == 0 ? make_meeting(ranks.size()) : static_cast<CpuProgram*>(ranks[0])->meeting_;
    return meeting_ != nullptr ? Result<void>() : Program::connect(ranks, own);
  }

  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override {
    const HostBuffer& to = buffers_[uint32_t(buffer)];
    TOK_CHECK(4 * first + values.size_bytes() <= to.size());
    std::memcpy(to.data() + 4 * first, values.data(), values.size_bytes());
    return {};
  }

  Result<void> submit(const StepRequest& request) override {
    const Phase& phase = plan_.phases[request.phase];
    for (const BufferCopy& copy : request.copies) {
      const HostBuffer& from = buffers_[uint32_t(copy.from)];
      const HostBuffer& to = buffers_[uint32_t(copy.to)];
      TOK_CHECK(copy.from_first + copy.bytes <= from.size());
      TOK_CHECK(copy.to_first + copy.bytes <= to.size());
      std::memcpy(to.data() + copy.to_first, from.data() + copy.from_first, size_t(copy.bytes));
    }
    for (const InputWrite& input : request.inputs) {
      TOK_CHECK(input.bytes.size() <= buffers_[uint32_t(input.buffer)].size());
      std::ranges::copy(input.bytes, buffers_[uint32_t(input.buffer)].data());
    }
    if (!request.continues) write(request);
    TOK_CHECK(request.repeat == 0 || fits(plan_, phase, size()));
    for (uint32_t i = 0; i < request.repeat; ++i) {
      for (const Step& step : phase.steps) {
        if (request.cancelled && request.cancelled()) return give_up(request);
        launch(step, phase);
      }
    }
    if (!request.done) return {};
    const Operand& result = request.result != nullptr ? *request.result : phase.result;
    const auto* first = reinterpret_cast<const float*>(buffers_[uint32_t(result.buffer)].data() +
                                                       request.result_first);
    const uint64_t bytes =
        request.result_bytes != 0 ? request.result_bytes : result_bytes(plan_, result, size());
    request.done(std::span(first, size_t(bytes / sizeof(float))));
    return {};
  }

  Result<void> poll() override { return {}; }
  Result<void> wait() override { return {}; }

  Result<std::vector<double>> time_launches(const StepRequest& request) override {
    write(request);
    std::vector<double> seconds;
    const Phase& phase = plan_.phases[request.phase];
    for (const Step& step : phase.steps) {
      const auto start = std::chrono::steady_clock::now();
      launch(step, phase);
      seconds.push_back(seconds_since(start));
    }
    return seconds;
  }

 private:
  /// Reads a constant, a large one by all threads: decoding a file's blocks takes longer than the
  /// file.
  Result<void> read(const Buffer& constant, const ConstantReader& constants, const HostBuffer& to) {
    constexpr uint64_t kShareBytes = uint64_t{1} << 20;
    const auto write = [&](uint64_t offset, std::span<const std::byte> bytes) {
      TOK_CHECK(offset + bytes.size() <= to.size());
      std::ranges::copy(bytes, to.data() + offset);
      return Result<void>();
    };
    if (vectors_ == nullptr || vectors_->pool().threads() == 1) {
      return constants(constant.tensor, {}, write);
    }
    const auto count = uint32_t(std::max<uint64_t>(1, constant.bytes / kShareBytes));
    std::vector<Result<void>> results(count);
    vectors_->pool().run(count, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        results[i] = constants(constant.tensor, {.index = uint32_t(i), .count = count}, write);
      }
    });
    for (const Result<void>& result : results) TOK_TRY(result);
    return {};
  }

  /// The packed matrices that lie in panels: those of kernels for vectors. They are multiplied as
  /// f32 if none of these rounds.
  void find_panels() {
    std::map<size_t, bool> is_exact;
    for (const Phase& phase : plan_.phases) {
      for (const Step& step : phase.steps) {
        for (const Operand& in : step.inputs) {
          is_exact.emplace(uint32_t(in.buffer), true).first->second &= step.kernel->rounding == 0;
        }
      }
    }
    for (const Phase& phase : plan_.phases) {
      for (const Step& step : phase.steps) {
        if ((step.kernel->needs & kFeatureVectors) == 0) continue;
        for (const Operand& in : step.inputs) {
          const Buffer& buffer = plan_.buffers[uint32_t(in.buffer)];
          if (!is_packed(in.dtype) || buffer.use != BufferUse::kConstant) continue;
          std::shared_ptr<const PanelLayout>& layout = panels_[uint32_t(in.buffer)];
          if (layout != nullptr) continue;
          layout = vectors_->layout(in.dtype, uint64_t(in.shape[0]), uint64_t(in.shape[1]),
                                    is_exact.at(uint32_t(in.buffer)));
        }
      }
    }
  }

  BatchView batch() { return {layout_, buffers_[uint32_t(plan_.batch)].data()}; }
  BatchSize size() { return {batch().rows(), batch().slots(), batch().outputs()}; }

  static Result<void> give_up(const StepRequest& request) {
    if (request.done) request.done(fail(ErrorCode::kCancelled, "The step was cancelled."));
    return {};
  }

  void write(const StepRequest& request) {
    write_batch(layout_, request.slots, request.tokens, request.outputs, batch_bytes_);
    std::ranges::copy(batch_bytes_, buffers_[uint32_t(plan_.batch)].data());
  }

  void launch(const Step& step, const Phase& phase) {
    CpuCall call{.op = &step.op,
                 .inputs = {},
                 .outputs = {},
                 .batch = batch(),
                 .max_rows = phase.max_tokens,
                 .pool = vectors_ == nullptr ? nullptr : &vectors_->pool()};
    const BatchSize now = size();
    for (const Operand& in : step.inputs) call.inputs.push_back(view(in, now));
    for (const Operand& out : step.outputs) call.outputs.push_back(view(out, now));
    if (observer_) observer_(plan_, step, call);
    if (meeting_ == nullptr || !is_collective(step.op)) return step.kernel->run(call);
    call.ranks = meeting_->come(rank_, call.inputs);
    step.kernel->run(call);
    meeting_->leave();
  }

  CpuTensor view(const Operand& operand, const BatchSize& now) {
    const size_t offset = operand.buffer == plan_.batch ? layout_.ids_offset() : 0;
    const auto panels = panels_.find(uint32_t(operand.buffer));
    CpuTensor tensor{buffers_[uint32_t(operand.buffer)].data() + offset,
                     operand.dtype,
                     {},
                     panels == panels_.end() ? nullptr : panels->second.get()};
    for (const Dim dim : operand.shape) {
      tensor.dims.push_back(dim == kTokens    ? now.rows
                            : dim == kOutputs ? now.outputs
                                              : uint32_t(dim));
    }
    return tensor;
  }

  Plan plan_;
  BatchLayout layout_;
  std::shared_ptr<Vectors> vectors_;  // null in the reference
  std::shared_ptr<uint64_t> alive_;   // bytes of all programs of the backend
  LaunchObserver observer_;           // may be empty
  std::map<size_t, std::shared_ptr<const PanelLayout>> panels_;  // by buffer
  std::vector<HostBuffer> buffers_;
  std::vector<std::byte> batch_bytes_;  // kept to allocate nothing per step
  std::shared_ptr<Meeting> meeting_;    // with other ranks; null: there are none
  size_t rank_ = 0;
};

class CpuBackend : public Backend {
 public:
  CpuBackend(DeviceInfo device, std::shared_ptr<Vectors> vectors)
      : device_(std::move(device)), vectors_(std::move(vectors)) {}
  const DeviceInfo& device() const override { return device_; }
  uint64_t device_bytes() const override { return *alive_; }
  void observe(LaunchObserver observer) { observer_ = std::move(observer); }

  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    auto program = std::make_unique<CpuProgram>(std::move(plan), vectors_, alive_, observer_);
    TOK_TRY(program->allocate());
    TOK_TRY(program->load(constants, progress));
    return program;
  }

 private:
  DeviceInfo device_;
  std::shared_ptr<Vectors> vectors_;
  std::shared_ptr<uint64_t> alive_ = std::make_shared<uint64_t>(0);
  LaunchObserver observer_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend_of(DeviceInfo device, std::shared_ptr<Vectors> vectors) {
  return std::make_unique<CpuBackend>(std::move(device), std::move(vectors));
}

void observe_launches(Backend& backend, LaunchObserver observer) {
  TOK_CHECK(backend.device().backend == BackendKind::kCpu && backend.device().ranks == 1);
  static_cast<CpuBackend&>(backend).observe(std::move(observer));
}

std::unique_ptr<Backend> make_cpu_backend() {
  return make_cpu_backend_of({.backend = BackendKind::kCpu,
                              .name = "CPU reference",
                              .driver = "plain C++",
                              .software = true},
                             nullptr);
}

}  // namespace tokamak
