#include "backend/webgpu/program.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <deque>

#include "backend/result_size.h"
#include "backend/webgpu/adapters.h"
#include "backend/webgpu/buffers.h"
#include "backend/webgpu/launch_timer.h"
#include "backend/webgpu/pipelines.h"
#include "backend/webgpu/readback.h"
#include "base/bits.h"
#include "base/check.h"
#include "base/seconds.h"

namespace tokamak {
namespace {

struct Dispatch {
  WGPUComputePipeline pipeline = nullptr;  // owned by Pipelines
  BindGroupHandle bindings;
  Grid grid;
  bool for_outputs = false;
};

/// The values that the commands of a submission depend on: all else is in buffers.
struct Submission {
  size_t phase = 0;
  BatchSize size;
  uint32_t repeat = 0;
  const Operand* result = nullptr;  // null: it is not read back
  uint64_t result_first = 0, result_bytes = 0;
  bool operator==(const Submission&) const = default;
};

struct Recorded {
  Submission of;
  std::vector<CommandsHandle> commands;  // each a submission of its own
  std::vector<double> nominal;           // their seconds of SubmitPace; empty: they are short
  Readback::Staging staging;             // receives the result
};

/// The last result of nominal_seconds().
struct NominalSeconds {
  BatchSize size;
  uint64_t positions = 0;
  double sum = 0;
  std::vector<double> steps;
};

/// Errors: a step that needs more workgroups in a row than the device runs.
Result<void> check_grids(const Plan& plan, const DeviceInfo& device) {
  const uint32_t limit = device.limits.grid_dimension;
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      const Grid& grid = step.launch.grid;
      for (const Extent& extent : {grid.x, grid.y, grid.z}) {
        const uint32_t rows =
            is_for_outputs(plan, phase, step) ? max_outputs(plan, phase) : phase.max_tokens;
        const uint32_t size = extent.at({rows, max_slots(plan, phase)});
        if (size <= limit) continue;
        return unsupported(
            "kernel {} dispatches {} workgroups in one dimension, but \"{}\" runs at most {}.",
            step.kernel->name, size, device.name, limit);
      }
    }
  }
  return {};
}

class WebGpuProgram : public Program {
 public:
  WebGpuProgram(std::shared_ptr<WebGpuDevice> device, Plan plan, DeviceBuffers buffers,
                Readback readback)
      : device_(std::move(device)),
        plan_(std::move(plan)),
        layout_(plan_.layout()),
        buffers_(std::move(buffers)),
        readback_(std::move(readback)) {}

  /// Fills the constants, while pipelines are compiled.
  Result<void> load(const ConstantReader& constants, const LoadProgress& progress) {
    const auto start = std::chrono::steady_clock::now();
    TOK_TRY(buffers_.load(plan_, constants, progress));
    report_.load_seconds = seconds_since(start);
    return {};
  }

  /// Waits for the pipelines and makes the bind groups.
  Result<void> prepare(PendingPipelines& in_flight) {
    TOK_TRY(pipelines_, in_flight.finish());
    report_.pipelines = uint32_t(pipelines_.all.size());
    report_.cached = pipelines_.cached;
    report_.compile_seconds = pipelines_.seconds;
    Checks checks(*device_);
    for (size_t p = 0; p < plan_.phases.size(); ++p) {
      const Phase& phase = plan_.phases[p];
      std::vector<Dispatch>& dispatches = phases_.emplace_back();
      nominal_.emplace_back();
      for (size_t s = 0; s < phase.steps.size(); ++s) {
        const Pipeline& pipeline = pipelines_.all[pipelines_.of_step[p][s]];
        dispatches.push_back({.pipeline = pipeline.handle.get(),
                              .bindings = {},
                              .grid = phase.steps[s].launch.grid,
                              .for_outputs = is_for_outputs(plan_, phase, phase.steps[s])});
        checks.run(fmt::format("step {} of {} ({})", s, phase.name, phase.steps[s].kernel->name),
                   [&] { dispatches[s].bindings = bind(phase, phase.steps[s], pipeline.layout); });
      }
    }
    return checks.finish();
  }

  const Plan& plan() const override { return plan_; }
  CompileReport report() const override {
    CompileReport now = report_;
    now.cache_problem = device_->cache_problem();
    return now;
  }

  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override {
    TOK_CHECK(4 * first + values.size_bytes() <= plan_.at(buffer).bytes);
    TOK_TRY(device_->status());
    wgpuQueueWriteBuffer(device_->queue(), buffers_.at(buffer), 4 * first, values.data(),
                         values.size_bytes());
    return device_->status();
  }

  Result<void> submit(const StepRequest& request) override {
    const Phase& phase = plan_.phases[request.phase];
    TOK_TRY(device_->status());
    if (!request.continues) write(request);
    positions_ += request.repeat;
    TOK_CHECK(request.repeat == 0 || fits(plan_, phase, size_));
    for (const InputWrite& input : request.inputs) {
      wgpuQueueWriteBuffer(device_->queue(), buffers_.at(input.buffer), 0, input.bytes.data(),
                           input.bytes.size());
    }
    const Operand* result = request.result != nullptr ? request.result : &phase.result;
    Submission own = {.phase = request.phase, .size = size_, .repeat = request.repeat};
    if (request.done) {
      own.result = result;
      own.result_first = request.result_first;
      own.result_bytes =
          request.result_bytes != 0 ? request.result_bytes : result_bytes(plan_, *result, size_);
    }
    const bool is_recorded = !ahead_.commands.empty() && ahead_.of == own && request.copies.empty();
    Recorded now = is_recorded ? std::move(ahead_) : record(own, request.copies);
    for (size_t i = 0; i < now.commands.size(); ++i) {
      const WGPUCommandBuffer list = now.commands[i].get();
      wgpuQueueSubmit(device_->queue(), 1, &list);
      if (!now.nominal.empty()) device_->measure_submission(now.nominal[i]);
    }
    TOK_TRY(device_->status());
    if (request.done) {
      readback_.read(std::move(now.staging), own.result_bytes, request.done);
    }
    // One token after another: the commands for the next are recorded while the device is at this.
    const bool continues =
        own == std::exchange(last_, own) && size_.rows == 1 && !request.continues;
    if (continues && request.done) {
      if (ahead_.staging.buffer) readback_.give_back(std::move(ahead_.staging));
      ahead_ = record(own, {});
    }
    return {};
  }

  Result<std::vector<double>> time_launches(const StepRequest& request) override {
    const std::vector<Dispatch>& dispatches = phases_[request.phase];
    TOK_TRY(const LaunchTimer timer, LaunchTimer::make(device_, dispatches.size()));
    write(request);
    const EncoderHandle encoder(wgpuDeviceCreateCommandEncoder(device_->handle(), nullptr));
    for (size_t i = 0; i < dispatches.size(); ++i) {
      const WGPUPassTimestampWrites writes = timer.writes(i);
      const WGPUComputePassDescriptor descriptor = {.timestampWrites = &writes};
      const PassHandle pass(wgpuCommandEncoderBeginComputePass(encoder.get(), &descriptor));
      encode(pass.get(), std::span(dispatches).subspan(i, 1), size_);
      wgpuComputePassEncoderEnd(pass.get());
    }
    timer.resolve(encoder.get());
    const CommandsHandle commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
    const WGPUCommandBuffer list = commands.get();
    wgpuQueueSubmit(device_->queue(), 1, &list);
    return timer.read();
  }

  Result<void> poll() override {
    device_->process_events();
    readback_.deliver();
    return device_->status();
  }

  Result<void> wait_for_result() override { return readback_.wait_for_first(); }

  Result<void> limit_batches(uint32_t most) override {
    batches_.push_back(device_->when_queue_is_done());
    while (batches_.size() > most) {
      const WGPUFuture oldest = batches_.front();
      batches_.pop_front();
      TOK_TRY(device_->wait(oldest));
    }
    return device_->status();
  }

  Result<void> wait() override {
    TOK_TRY(readback_.wait());
    return limit_batches(0);
  }

 private:
  Recorded record(const Submission& of, std::span<const BufferCopy> copies) {
    Recorded recorded{.of = of, .commands = {}, .nominal = {}, .staging = {}};
    EncoderHandle encoder(wgpuDeviceCreateCommandEncoder(device_->handle(), nullptr));
    for (const BufferCopy& copy : copies) {
      wgpuCommandEncoderCopyBufferToBuffer(encoder.get(), buffers_.at(copy.from), copy.from_first,
                                           buffers_.at(copy.to), copy.to_first, copy.bytes);
    }
    const std::span<const double> nominal = nominal_seconds(of);
    const size_t most = device_->submit_dispatches() == 0 ? SIZE_MAX : device_->submit_dispatches();
    const SubmitRoom whole = {.dispatches = most, .seconds = device_->pace().limit()};
    SubmitRoom room = whole;
    const auto finish = [&] {
      recorded.commands.emplace_back(wgpuCommandEncoderFinish(encoder.get(), nullptr));
      if (!nominal.empty()) recorded.nominal.push_back(whole.seconds - room.seconds);
    };
    PassHandle pass;
    for (uint32_t i = 0; i < of.repeat; ++i) {
      const std::span<const Dispatch> dispatches = phases_[of.phase];
      for (size_t first = 0; first < dispatches.size();) {
        const size_t count = room.take(dispatches.size() - first,
                                       nominal.empty() ? nominal : nominal.subspan(first));
        if (count == 0) {
          wgpuComputePassEncoderEnd(pass.get());
          pass = {};
          finish();
          encoder = EncoderHandle(wgpuDeviceCreateCommandEncoder(device_->handle(), nullptr));
          room = whole;
          continue;
        }
        if (!pass) pass = PassHandle(wgpuCommandEncoderBeginComputePass(encoder.get(), nullptr));
        encode(pass.get(), dispatches.subspan(first, count), of.size);
        first += count;
      }
    }
    if (pass) wgpuComputePassEncoderEnd(pass.get());
    if (of.result != nullptr) {
      recorded.staging = readback_.take(of.result_bytes);
      wgpuCommandEncoderCopyBufferToBuffer(encoder.get(), buffers_.at(of.result->buffer),
                                           of.result_first, recorded.staging.buffer.get(), 0,
                                           of.result_bytes);
    }
    finish();
    return recorded;
  }

  /// The seconds of each dispatch as SubmitPace has them; empty: the step is short. Valid until the
  /// next call.
  std::span<const double> nominal_seconds(const Submission& of) {
    if (!device_->pace().has_limit()) return {};
    const Phase& phase = plan_.phases[of.phase];
    const uint64_t positions = std::bit_ceil(positions_);
    NominalSeconds& known = nominal_[of.phase];
    if (known.size != of.size || known.positions != positions) {
      known = {.size = of.size, .positions = positions, .sum = 0, .steps = {}};
      for (const Step& step : phase.steps) {
        const uint64_t rows = is_for_outputs(plan_, phase, step) ? of.size.outputs : of.size.rows;
        known.steps.push_back(
            SubmitPace::nominal(step_cost(plan_, step, rows, positions, of.size.slots)));
        known.sum += known.steps.back();
      }
    }
    if (!device_->pace().is_long(of.repeat * known.sum)) return {};
    return known.steps;
  }

  BindGroupHandle bind(const Phase& phase, const Step& step, WGPUBindGroupLayout layout) const {
    std::vector<WGPUBindGroupEntry> entries = {{.binding = 0,
                                                .buffer = buffers_.at(plan_.batch),
                                                .offset = 0,
                                                .size = batch_access(plan_, phase, step).bytes()}};
    const auto add = [&](const Operand& operand) {
      entries.push_back({.binding = uint32_t(entries.size()),
                         .buffer = buffers_.at(operand.buffer),
                         .offset = operand.buffer == plan_.batch ? layout_.ids_offset() : 0,
                         .size = bound_bytes(plan_, operand, phase)});
    };
    for (const Operand& in : step.inputs) add(in);
    for (const Operand& out : step.outputs) add(out);
    for (const uint32_t input : step.launch.rebound_inputs) add(step.inputs[input]);
    const WGPUBindGroupDescriptor descriptor = {
        .layout = layout, .entryCount = entries.size(), .entries = entries.data()};
    return BindGroupHandle(wgpuDeviceCreateBindGroup(device_->handle(), &descriptor));
  }

  void write(const StepRequest& request) {
    write_batch(layout_, request.slots, request.tokens, request.outputs, batch_bytes_);
    const BatchHeader& header = BatchView(layout_, batch_bytes_.data()).header();
    size_ = {header.rows, header.slots, header.outputs};
    positions_ = 1;
    for (const Slot& slot : request.slots) {
      positions_ = std::max<uint64_t>(positions_, slot.position + slot.count);
    }
    wgpuQueueWriteBuffer(device_->queue(), buffers_.at(plan_.batch), 0, batch_bytes_.data(),
                         batch_bytes_.size());
  }

  static void encode(WGPUComputePassEncoder pass, std::span<const Dispatch> dispatches,
                     const BatchSize& batch) {
    WGPUComputePipeline current = nullptr;
    for (const Dispatch& dispatch : dispatches) {
      if (dispatch.pipeline != current) {
        wgpuComputePassEncoderSetPipeline(pass, dispatch.pipeline);
        current = dispatch.pipeline;
      }
      wgpuComputePassEncoderSetBindGroup(pass, 0, dispatch.bindings.get(), 0, nullptr);
      const StepSize size = {dispatch.for_outputs ? batch.outputs : batch.rows, batch.slots};
      wgpuComputePassEncoderDispatchWorkgroups(pass, dispatch.grid.x.at(size),
                                               dispatch.grid.y.at(size), dispatch.grid.z.at(size));
    }
  }

  std::shared_ptr<WebGpuDevice> device_;
  Plan plan_;
  BatchLayout layout_;
  DeviceBuffers buffers_;
  Readback readback_;
  Pipelines pipelines_;
  std::vector<std::vector<Dispatch>> phases_;
  std::deque<WGPUFuture> batches_;  // of limit_batches(), oldest first
  Submission last_;
  BatchSize size_;                       // of the last batch
  uint64_t positions_ = 1;               // of its longest sequence
  std::vector<NominalSeconds> nominal_;  // of each phase
  Recorded ahead_;                       // the next submission, if it is as the last two
  std::vector<std::byte> batch_bytes_;   // kept to allocate nothing per step
  CompileReport report_;
};

class WebGpuBackend : public Backend {
 public:
  explicit WebGpuBackend(std::shared_ptr<WebGpuDevice> device) : device_(std::move(device)) {}

  const DeviceInfo& device() const override { return device_->info(); }
  uint64_t device_bytes() const override { return device_->bytes(); }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    return make_webgpu_program(device_, std::move(plan), constants, progress);
  }

 private:
  std::shared_ptr<WebGpuDevice> device_;
};

}  // namespace

Result<std::unique_ptr<Program>> make_webgpu_program(std::shared_ptr<WebGpuDevice> device,
                                                     Plan plan, const ConstantReader& constants,
                                                     const LoadProgress& progress) {
  TOK_TRY(device->status());
  TOK_TRY(check_grids(plan, device->info()));
  Checks checks(*device);
  PendingPipelines pipelines = PendingPipelines::begin(device, plan, checks);
  DeviceBuffers buffers(device, plan, checks);
  Readback readback(device, largest_result(plan), checks);
  TOK_TRY(checks.finish());
  auto program = std::make_unique<WebGpuProgram>(std::move(device), std::move(plan),
                                                 std::move(buffers), std::move(readback));
  TOK_TRY(program->load(constants, progress));
  TOK_TRY(program->prepare(pipelines));
  return program;
}

std::unique_ptr<Backend> make_webgpu_backend(std::shared_ptr<WebGpuDevice> device) {
  return std::make_unique<WebGpuBackend>(std::move(device));
}

}  // namespace tokamak
