#include "backend/cuda/program.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include "backend/cuda/graphs.h"
#include "backend/cuda/readback.h"
#include "backend/result_size.h"
#include "base/background_task.h"
#include "base/check.h"
#include "base/seconds.h"
#include "kernels/collective/collective.h"

namespace tokamak {
namespace cuda {
namespace {

bool has_step(const Plan& plan, bool (*is)(const Step&)) {
  return std::ranges::any_of(
      plan.phases, [&](const Phase& phase) { return std::ranges::any_of(phase.steps, is); });
}
bool calls_library(const Step& step) {
  return step.launch.calls_library;
}
bool has_ranks(const Step& step) {
  return step.launch.ranks != 0;
}

class CudaProgram : public Program {
 public:
  CudaProgram(std::shared_ptr<CudaDevice> device, Plan plan, Buffers buffers)
      : device_(std::move(device)),
        plan_(std::move(plan)),
        layout_(plan_.layout()),
        buffers_(std::move(buffers)),
        readback_(device_, size_t(largest_result(plan_))),
        graphs_(device_) {}
  ~CudaProgram() override {
    // The launches that still run read the buffers.
    if (device_->enter()) device_->api().stream_synchronize(device_->stream());
  }

  /// Fills the constants while kernels are compiled and the library is opened.
  Result<void> load(const ConstantReader& constants, const LoadProgress& progress) {
    Result<Compiled> kernels = Compiled();
    Result<void> opened;
    BackgroundTask compiling([&] { kernels = make_kernels(); });
    BackgroundTask opening([&] { opened = open_library(); });
    const auto start = std::chrono::steady_clock::now();
    const Result<void> loaded = buffers_.load(plan_, constants, progress);
    report_.load_seconds = seconds_since(start);
    TOK_TRY(opening.wait());
    TOK_TRY(compiling.wait());
    TOK_TRY(const Compiled compiled, std::move(kernels));
    TOK_TRY(opened);
    TOK_TRY(loaded);
    TOK_TRY(make_meeting());
    launches_ =
        prepare_launches(plan_, buffers_, compiled, modules_, products_.get(), meeting_.address());
    report_.pipelines = uint32_t(compiled.codes.size());
    report_.cached = uint32_t(std::ranges::count(compiled.are_cached, 1));
    report_.compile_seconds = compiled.seconds;
    return {};
  }

  const Plan& plan() const override { return plan_; }

  Result<void> connect(std::span<Program* const> ranks, size_t own) override {
    if (plan_.ranks == 1) return {};  // each by itself
    TOK_TRY(device_->enter());
    std::vector<CudaProgram*> all;
    for (Program* const rank : ranks) {
      all.push_back(static_cast<CudaProgram*>(rank));
      if (all.back() != this) TOK_TRY(device_->reach(*all.back()->device_));
    }
    const uint32_t number = uint32_t(own);
    TOK_TRY(copy(meeting_.address(), std::as_bytes(std::span(&number, 1))));
    for (size_t p = 0; p < plan_.phases.size(); ++p) {
      const std::vector<Step>& steps = plan_.phases[p].steps;
      for (size_t s = 0; s < steps.size(); ++s) {
        if (steps[s].launch.ranks == 0) continue;
        TOK_CHECK(steps[s].launch.ranks == all.size());
        DevicePointer* at = launches_[p][s].bound.at + first_of_ranks(steps[s]) + 1;
        for (const CudaProgram* rank : all) *at++ = rank->buffers_.at(steps[s].inputs[0].buffer);
        for (const CudaProgram* rank : all) *at++ = rank->meeting_.address();
      }
    }
    return device_->check(device_->api().stream_synchronize(device_->stream()),
                          "The device has failed");
  }

  CompileReport report() const override {
    CompileReport now = report_;
    if (device_->cache() != nullptr) now.cache_problem = device_->cache()->problem();
    return now;
  }

  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override {
    TOK_CHECK(4 * first + values.size_bytes() <= plan_.at(buffer).bytes);
    TOK_TRY(device_->enter());
    return copy(buffers_.at(buffer) + 4 * first, std::as_bytes(values));
  }

  Result<void> submit(const StepRequest& request) override {
    const Phase& phase = plan_.phases[request.phase];
    TOK_TRY(device_->enter());
    if (!request.continues) TOK_TRY(write(request));
    TOK_CHECK(request.repeat == 0 || fits(plan_, phase, size_));
    for (const InputWrite& input : request.inputs) {
      TOK_TRY(copy(buffers_.at(input.buffer), input.bytes));
    }
    for (const BufferCopy& one : request.copies) {
      TOK_TRY(device_->check(device_->api().copy_async(buffers_.at(one.to) + one.to_first,
                                                       buffers_.at(one.from) + one.from_first,
                                                       size_t(one.bytes), device_->stream()),
                             "A state cannot be copied"));
    }
    if (request.repeat > 0) {
      TOK_TRY(graphs_.run({request.phase, size_, request.repeat}, launches_[request.phase]));
    }
    if (!request.done) return {};
    const Operand& result = request.result != nullptr ? *request.result : phase.result;
    const uint64_t bytes =
        request.result_bytes != 0 ? request.result_bytes : result_bytes(plan_, result, size_);
    return readback_.read(buffers_.at(result.buffer) + request.result_first, size_t(bytes),
                          request.done);
  }

  Result<std::vector<double>> time_launches(const StepRequest& request) override {
    TOK_TRY(device_->enter());
    TOK_TRY(write(request));
    const std::vector<PreparedLaunch>& all = launches_[request.phase];
    std::vector<Mark> marks;
    for (size_t i = 0; i <= all.size(); ++i) {
      TOK_TRY(Mark mark, Mark::make(device_, 0));
      TOK_TRY(mark.record(device_->stream()));
      marks.push_back(std::move(mark));
      if (i < all.size()) TOK_TRY(launch(*device_, std::span(all).subspan(i, 1), size_));
    }
    TOK_TRY(marks.back().wait());
    std::vector<double> seconds;
    for (size_t i = 0; i < all.size(); ++i) {
      float milliseconds = 0;
      TOK_TRY(device_->check(
          device_->api().event_elapsed(&milliseconds, marks[i].event(), marks[i + 1].event()),
          "The device has no clock"));
      seconds.push_back(double(milliseconds) / 1e3);
    }
    return seconds;
  }

  Result<void> poll() override {
    TOK_TRY(device_->enter());
    return readback_.deliver();
  }

  Result<void> wait_for_result() override {
    TOK_TRY(enter_to_wait());
    return readback_.wait_for_first();
  }

  Result<void> limit_batches(uint32_t most) override {
    TOK_TRY(device_->enter());
    TOK_TRY(Mark mark, Mark::make(device_));
    TOK_TRY(mark.record(device_->stream()));
    batches_.push_back(std::move(mark));
    while (batches_.size() > most) {
      Mark oldest = std::move(batches_.front());
      batches_.pop_front();
      TOK_TRY(oldest.wait());
    }
    return {};
  }

  Result<void> wait() override {
    TOK_TRY(enter_to_wait());
    TOK_TRY(readback_.wait());
    return device_->check(device_->api().stream_synchronize(device_->stream()),
                          "The device has failed");
  }

 private:
  Result<Compiled> make_kernels() {
    TOK_TRY(device_->enter());
    TOK_TRY(Compiled compiled, compile_plan(*device_, plan_));
    TOK_TRY(modules_, Modules::load(device_, compiled));
    return compiled;
  }

  Result<void> open_library() {
    if (!has_step(plan_, calls_library)) return {};
    TOK_TRY(device_->enter());
    TOK_TRY(products_, Products::make(device_));
    return {};
  }

  /// The meeting of a rank that is alone, until connect().
  Result<void> make_meeting() {
    if (!has_step(plan_, has_ranks)) return {};
    TOK_TRY(device_->enter());
    std::vector<uint32_t> words(meeting_words(plan_.ranks));
    words[0] = kNoRank;
    TOK_TRY(meeting_, DeviceMemory::make(device_, words.size() * sizeof(uint32_t), "the meeting"));
    return copy(meeting_.address(), std::as_bytes(std::span(words)));
  }

  /// A lost device still owes its answers.
  Result<void> enter_to_wait() {
    const Result<void> entered = device_->enter();
    return entered ? entered : readback_.give_up(entered.error());
  }

  /// The bytes are read before it returns.
  Result<void> copy(DevicePointer to, std::span<const std::byte> bytes) {
    return device_->check(
        device_->api().copy_to_device_async(to, bytes.data(), bytes.size(), device_->stream()),
        "The device takes no input");
  }

  Result<void> write(const StepRequest& request) {
    write_batch(layout_, request.slots, request.tokens, request.outputs, batch_bytes_);
    const BatchHeader& header = BatchView(layout_, batch_bytes_.data()).header();
    size_ = {header.rows, header.slots, header.outputs};
    return copy(buffers_.at(plan_.batch), batch_bytes_);
  }

  std::shared_ptr<CudaDevice> device_;
  Plan plan_;
  BatchLayout layout_;
  Buffers buffers_;
  Readback readback_;
  Modules modules_;
  DeviceMemory meeting_;                               // with other ranks: collective/meet.wgsl
  std::unique_ptr<Products> products_;                 // null: the plan needs none
  std::vector<std::vector<PreparedLaunch>> launches_;  // [phase][step]
  Graphs graphs_;
  std::deque<Mark> batches_;            // of limit_batches(), oldest first
  BatchSize size_;                      // of the last batch
  std::vector<std::byte> batch_bytes_;  // kept to allocate nothing per step
  CompileReport report_;
};

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(std::shared_ptr<CudaDevice> device) : device_(std::move(device)) {}

  const DeviceInfo& device() const override { return device_->info(); }
  uint64_t device_bytes() const override { return device_->bytes(); }
  uint64_t free_bytes() const override {
    size_t free = 0, total = 0;
    const bool is_known =
        device_->enter() && device_->api().memory_info(&free, &total) == Status::kSuccess;
    return is_known ? free : 0;
  }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    return make_program(device_, std::move(plan), constants, progress);
  }

 private:
  std::shared_ptr<CudaDevice> device_;
};

}  // namespace

Result<std::unique_ptr<Program>> make_program(std::shared_ptr<CudaDevice> device, Plan plan,
                                              const ConstantReader& constants,
                                              const LoadProgress& progress) {
  TOK_TRY(device->enter());
  TOK_TRY(Buffers buffers, Buffers::make(device, plan));
  auto program =
      std::make_unique<CudaProgram>(std::move(device), std::move(plan), std::move(buffers));
  TOK_TRY(program->load(constants, progress));
  return program;
}

}  // namespace cuda

Result<std::unique_ptr<Backend>> open_cuda_backend(const CudaOptions& options) {
  TOK_TRY(std::shared_ptr<cuda::CudaDevice> device, cuda::CudaDevice::open(options));
  return std::make_unique<cuda::CudaBackend>(std::move(device));
}

}  // namespace tokamak
