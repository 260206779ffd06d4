// A device that is lost when a test wants it: in place of its n-th step, or right after it. And one
// that takes its time: results arrive when somebody waits for them.
#pragma once
#include <deque>

#include "backend/webgpu/adapters.h"
#include "base/file_cache.h"
#include "base/system/folders.h"
#include "engine/engine.h"

namespace tokamak {

/// When the device is lost, and what came of it. Outlives every backend that follows it.
struct Fault {
  uint32_t after_steps = UINT32_MAX;  // submitted ones, counted from here on
  bool before_it_runs = false;        // the device is lost before that step reaches it
  uint32_t times = 1;                 // on each device of them, after that many steps
  bool destroys = false;              // by destroying the device
  bool delays_results = false;        // until they are waited for
  uint32_t losses = 0, opened = 0;
  std::vector<std::string> notices;

  bool comes_now() {
    ++seen_;
    if (losses == times || seen_ <= after_steps) return false;
    seen_ = 0;
    ++losses;
    return true;
  }
  void count_from_here() { seen_ = 0; }
  uint32_t counted() const { return seen_; }

 private:
  uint32_t seen_ = 0;
};

class FragileProgram : public Program {
 public:
  FragileProgram(std::unique_ptr<Program> real, std::shared_ptr<WebGpuDevice> device, Fault& fault)
      : real_(std::move(real)), device_(std::move(device)), fault_(fault) {}

  const Plan& plan() const override { return real_->plan(); }
  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override {
    if (is_lost_) return lost();
    return real_->write_table(buffer, values, first);
  }
  Result<void> submit(const StepRequest& request) override {
    const bool loses = !is_pulled_out_ && fault_.comes_now();
    if (loses && fault_.before_it_runs) lose();
    if (is_lost_) return lost();
    StepRequest own = request;
    if (own.done && fault_.delays_results) own.done = delayed(std::move(own.done));
    const Result<void> submitted = real_->submit(own);
    if (loses && !fault_.before_it_runs) lose();
    return submitted;
  }
  Result<void> poll() override { return is_lost_ ? lost() : real_->poll(); }
  Result<void> wait_for_result() override {
    TOK_TRY(is_lost_ ? lost() : real_->wait_for_result());
    if (!late_.empty()) deliver_first();
    return {};
  }
  Result<void> limit_batches(uint32_t most) override {
    return is_lost_ ? lost() : real_->limit_batches(most);
  }
  Result<void> wait() override {
    TOK_TRY(is_lost_ ? lost() : real_->wait());
    while (!late_.empty()) deliver_first();
    return {};
  }

 private:
  using Done = decltype(StepRequest::done);

  Done delayed(Done done) {
    return [this, done = std::move(done)](Result<std::span<const float>> values) {
      if (!values) return done(std::move(values));
      late_.emplace_back(done, std::vector<float>(values->begin(), values->end()));
    };
  }
  void deliver_first() {
    const auto [done, values] = std::move(late_.front());
    late_.pop_front();
    done(std::span(values));
  }

  /// A device of WebGPU tells of it itself.
  void lose() {
    is_pulled_out_ = true;
    if (device_ == nullptr) {
      is_lost_ = true;
    } else if (fault_.destroys) {
      wgpuDeviceDestroy(device_->handle());
    } else {
      wgpuDeviceForceLoss(device_->handle(), WGPUDeviceLostReason_Unknown, wgpu_text("pulled out"));
    }
  }
  static Result<void> lost() { return fail(ErrorCode::kDeviceLost, "It was pulled out."); }

  std::unique_ptr<Program> real_;
  std::shared_ptr<WebGpuDevice> device_;  // null: the CPU's
  Fault& fault_;
  std::deque<std::pair<Done, std::vector<float>>> late_;
  bool is_pulled_out_ = false, is_lost_ = false;  // the latter: as far as this class has to tell
};

class FragileBackend : public Backend {
 public:
  FragileBackend(std::unique_ptr<Backend> real, std::shared_ptr<WebGpuDevice> device, Fault& fault)
      : real_(std::move(real)), device_(std::move(device)), fault_(fault) {}

  /// The device that `options` names.
  static Result<std::unique_ptr<Backend>> open(const OpenOptions& options, Fault& fault) {
    ++fault.opened;
    if (options.backend != "webgpu") {
      TOK_TRY(std::unique_ptr<Backend> processor, open_backend(options));
      return std::make_unique<FragileBackend>(std::move(processor), nullptr, fault);
    }
    WebGpuOptions webgpu;
    webgpu.cache_dir = cache_folder(kPipelineCache.folder);
    webgpu.default_limits = options.default_limits;
    if (!options.use_f16) webgpu.disabled |= kFeatureF16;
    if (!options.use_subgroups) webgpu.disabled |= kFeatureSubgroups;
    if (!options.use_matrix) webgpu.disabled |= kFeatureSubgroupMatrix;
    TOK_TRY(std::shared_ptr<WebGpuDevice> device, open_webgpu_device(webgpu));
    return std::make_unique<FragileBackend>(make_webgpu_backend(device), device, fault);
  }

  const DeviceInfo& device() const override { return real_->device(); }
  uint64_t device_bytes() const override { return real_->device_bytes(); }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    TOK_TRY(std::unique_ptr<Program> program, real_->compile(std::move(plan), constants, progress));
    return std::make_unique<FragileProgram>(std::move(program), device_, fault_);
  }

 private:
  std::unique_ptr<Backend> real_;
  std::shared_ptr<WebGpuDevice> device_;
  Fault& fault_;
};

}  // namespace tokamak
