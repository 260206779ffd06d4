#include "backend/stages.h"

#include <algorithm>
#include <map>

#include "base/bits.h"
#include "base/bytes_text.h"
#include "base/check.h"

namespace tokamak {
namespace {

/// The features and limits that all of them have.
DeviceInfo shared_device(std::span<const std::unique_ptr<Backend>> stages) {
  DeviceInfo all = stages[0]->device();
  const auto add_text = [](std::string& text, const std::string& other) {
    if (text != other) text += " + " + other;
  };
  for (const auto& stage : stages.subspan(1)) {
    const DeviceInfo& own = stage->device();
    add_text(all.name, own.name);
    if (all.driver != own.driver) add_text(all.driver, own.driver);
    all.software |= own.software;
    all.features &= own.features;
    all.subgroup_min = std::min(all.subgroup_min, own.subgroup_min);
    all.subgroup_max = std::max(all.subgroup_max, own.subgroup_max);
    const auto least = [](auto& one, auto other) { one = std::min(one, other); };
    least(all.limits.workgroup_threads, own.limits.workgroup_threads);
    least(all.limits.workgroup_bytes, own.limits.workgroup_bytes);
    least(all.limits.storage_buffers, own.limits.storage_buffers);
    least(all.limits.grid_dimension, own.limits.grid_dimension);
    least(all.limits.binding_bytes, own.limits.binding_bytes);
    least(all.limits.buffer_bytes, own.limits.buffer_bytes);
    if (own.size.multiprocessors < all.size.multiprocessors) all.size = own.size;
  }
  return all;
}

/// The layers that each stage of a backend has, by its room; of the first ones where there are
/// fewer layers.
std::vector<LayerShare> shares_by_room(const Backend& backend, const Plan& plan,
                                       std::span<const LayerStart> layers) {
  std::vector<uint64_t> rooms;
  for (const DeviceMemoryUse& use : backend.memory_use()) rooms.push_back(use.free_bytes);
  rooms.resize(std::min(rooms.size(), layers.size()));
  return share_layers(plan, layers, rooms);
}

/// A stage of a plan, and the program that runs it.
struct RunningStage {
  Stage cut;
  std::unique_ptr<Program> program;
};

/// The batch of a step as the host knows it.
struct HostBatch {
  std::vector<Slot> slots;
  std::vector<uint32_t> tokens, outputs;

  uint32_t output_count() const {
    return uint32_t(outputs.empty() ? slots.size() : outputs.size());
  }
};

class StagedProgram : public Program {
 public:
  StagedProgram(Plan plan, std::vector<RunningStage> stages)
      : plan_(std::move(plan)),
        stages_(std::move(stages)),
        batch_{stages_.back().cut.plan.batch, DType::kU32, {1}} {}

  const Plan& plan() const override { return plan_; }
  CompileReport report() const override {
    CompileReport sum;
    for (const RunningStage& stage : stages_) {
      const CompileReport own = stage.program->report();
      sum.pipelines += own.pipelines;
      sum.cached += own.cached;
      sum.compile_seconds += own.compile_seconds;
      sum.load_seconds += own.load_seconds;
      if (sum.cache_problem.empty()) sum.cache_problem = own.cache_problem;
    }
    return sum;
  }

  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override {
    for (const RunningStage& stage : stages_) {
      const std::optional<BufferId> own = stage.cut.own[uint32_t(buffer)];
      if (own) TOK_TRY(stage.program->write_table(*own, values, first));
    }
    return {};
  }

  /// Blocks until all stages but the last have done their part. Where the device chooses tokens,
  /// the last one's go back to the first between two steps.
  Result<void> submit(const StepRequest& request) override {
    if (!request.continues) remember(request);
    if (request.repeat == 0) return submit_to_all(request);
    for (uint32_t i = 0; i < request.repeat; ++i) {
      StepRequest one = request;
      one.repeat = 1;
      if (request.continues || i > 0) TOK_TRY(read_batch());
      if (i > 0) one.inputs = {}, one.copies = {}, one.continues = true;
      if (i + 1 < request.repeat) one.done = nullptr;
      TOK_TRY(const bool continues, run(one));
      if (continues) continue;
      if (request.done) request.done(fail(ErrorCode::kCancelled, "The step was cancelled."));
      break;
    }
    return {};
  }

  Result<void> poll() override { return stages_.back().program->poll(); }
  Result<void> wait_for_result() override { return stages_.back().program->wait_for_result(); }
  Result<void> limit_batches(uint32_t most) override {
    return stages_.back().program->limit_batches(most);
  }
  Result<void> wait() override {
    for (const RunningStage& stage : stages_) TOK_TRY(stage.program->wait());
    return {};
  }

  Result<std::vector<double>> time_launches(const StepRequest& request) override {
    std::vector<double> seconds;
    for (const RunningStage& stage : stages_) {
      TOK_TRY(const std::vector<double> own, stage.program->time_launches(request));
      seconds.insert(seconds.end(), own.begin(), own.end());
    }
    return seconds;
  }

 private:
  const RunningStage& last() const { return stages_.back(); }

  void remember(const StepRequest& request) {
    host_ = {.slots = request.slots,
             .tokens = {request.tokens.begin(), request.tokens.end()},
             .outputs = {request.outputs.begin(), request.outputs.end()}};
  }

  /// The parts of a request that a stage has a place for, in its numbers.
  struct StageInputs {
    std::vector<InputWrite> inputs;
    std::vector<BufferCopy> copies;
  };
  static StageInputs inputs_of(const StepRequest& request, const Stage& stage) {
    StageInputs own;
    for (const InputWrite& input : request.inputs) {
      if (const auto to = stage.own[uint32_t(input.buffer)])
        own.inputs.push_back({*to, input.bytes});
    }
    for (BufferCopy copy : request.copies) {
      const auto from = stage.own[uint32_t(copy.from)], to = stage.own[uint32_t(copy.to)];
      if (!from || !to) continue;
      copy.from = *from;
      copy.to = *to;
      own.copies.push_back(copy);
    }
    return own;
  }

  /// The operand of the last stage that a request asks for; null: the phase's result. It lives as
  /// long as the program, since programs know operands again by their place.
  const Operand* result_of(const StepRequest& request) {
    if (request.result == nullptr) return nullptr;
    const std::optional<BufferId> own = last().cut.own[uint32_t(request.result->buffer)];
    TOK_CHECK(own.has_value());
    Operand& result = results_[request.result];
    result = *request.result;
    result.buffer = *own;
    return &result;
  }

  /// Copies, and the result of an earlier step: nothing runs.
  Result<void> submit_to_all(const StepRequest& request) {
    for (const RunningStage& stage : stages_) {
      StepRequest own = request;
      const StageInputs inputs = inputs_of(request, stage.cut);
      own.inputs = inputs.inputs;
      own.copies = inputs.copies;
      const bool is_last = &stage == &last();
      own.result = is_last ? result_of(request) : nullptr;
      if (!is_last) own.done = nullptr;
      TOK_TRY(stage.program->submit(own));
    }
    return {};
  }

  /// One step from stage to stage; false where nobody wants it any more.
  Result<bool> run(const StepRequest& request) {
    std::map<BufferId, std::vector<std::byte>> carried;
    for (const RunningStage& stage : stages_) {
      StageInputs inputs = inputs_of(request, stage.cut);
      for (const Carried& value : stage.cut.takes[request.phase]) {
        inputs.inputs.push_back({value.operand.buffer, carried[value.buffer]});
      }
      StepRequest own = request;
      own.inputs = inputs.inputs;
      own.copies = inputs.copies;
      if (&stage == &last()) {
        own.result = result_of(request);
        TOK_TRY(stage.program->submit(own));
        break;
      }
      // The device chose what it continues with elsewhere.
      own.continues = false;
      own.slots = host_.slots;
      own.tokens = host_.tokens;
      own.outputs = host_.outputs;
      const Result<void> given = give(stage, own, carried);
      if (given) continue;
      if (given.error().code != ErrorCode::kCancelled) return Failure(given.error());
      return false;
    }
    return true;
  }

  /// Runs the step on a stage, and reads what later ones take of it.
  Result<void> give(const RunningStage& stage, StepRequest request,
                    std::map<BufferId, std::vector<std::byte>>& carried) {
    const auto rows = uint32_t(host_.tokens.size());
    for (const Carried& value : stage.cut.gives[request.phase]) {
      const Operand& operand = value.operand;
      const uint64_t bytes = byte_count(operand.dtype, operand.shape, rows, host_.output_count());
      request.result = &operand;
      request.result_first = 0;
      request.result_bytes = round_up<uint64_t>(bytes, 4);
      TOK_TRY(carried[value.buffer], read(*stage.program, request));
      request.repeat = 0;  // the others are there, too
      request.continues = true;
      request.inputs = {};
      request.copies = {};
    }
    return {};
  }

  /// The result of a request, now.
  static Result<std::vector<std::byte>> read(Program& program, StepRequest request) {
    using Bytes = Result<std::vector<std::byte>>;
    // A program that fails may answer after this has returned.
    const auto result = std::make_shared<std::optional<Bytes>>();
    request.done = [result](Result<std::span<const float>> values) {
      if (!values) {
        *result = Failure(values.error());
        return;
      }
      const auto bytes = std::as_bytes(*values);
      *result = std::vector(bytes.begin(), bytes.end());
    };
    TOK_TRY(program.submit(request));
    while (!result->has_value()) TOK_TRY(program.wait_for_result());
    return *std::move(*result);
  }

  /// The batch that the last stage has made of the one before.
  Result<void> read_batch() {
    StepRequest request{.phase = 0, .slots = {}, .tokens = {}, .done = {}};
    request.repeat = 0;
    request.continues = true;
    request.result = &batch_;
    const auto read_into = [&](uint64_t first, std::span<std::byte> to) -> Result<void> {
      request.result_first = first;
      request.result_bytes = to.size();
      TOK_TRY(const std::vector<std::byte> bytes, read(*last().program, request));
      std::ranges::copy(bytes, to.begin());
      return {};
    };
    TOK_TRY(read_into(sizeof(BatchHeader), std::as_writable_bytes(std::span(host_.slots))));
    return read_into(plan_.layout().ids_offset(), std::as_writable_bytes(std::span(host_.tokens)));
  }

  Plan plan_;
  std::vector<RunningStage> stages_;
  Operand batch_;                              // of the last stage
  HostBatch host_;                             // of the last step
  std::map<const Operand*, Operand> results_;  // by the operand of the whole plan
};

class StagedBackend : public Backend {
 public:
  StagedBackend(std::vector<std::unique_ptr<Backend>> stages, std::vector<uint64_t> most_bytes)
      : stages_(std::move(stages)),
        most_bytes_(std::move(most_bytes)),
        device_(shared_device(stages_)) {}

  std::span<const std::unique_ptr<Backend>> stages() const override { return stages_; }
  const DeviceInfo& device() const override { return device_; }
  uint64_t device_bytes() const override {
    uint64_t sum = 0;
    for (const auto& stage : stages_) sum += stage->device_bytes();
    return sum;
  }
  uint64_t free_bytes() const override {
    uint64_t sum = 0;
    for (const auto& stage : stages_) sum += stage->free_bytes();
    return sum;
  }
  std::vector<DeviceMemoryUse> memory_use() const override {
    std::vector<DeviceMemoryUse> all;
    for (size_t i = 0; i < stages_.size(); ++i) {
      const uint64_t bytes = stages_[i]->device_bytes(), free = stages_[i]->free_bytes();
      const uint64_t left = most_bytes_[i] - std::min(most_bytes_[i], bytes);
      const bool has_limit = most_bytes_[i] != 0;
      // 0 would be a room that is not known.
      const uint64_t room = std::max<uint64_t>(free == 0 ? left : std::min(free, left), 1);
      all.push_back({bytes, has_limit ? room : free});
    }
    return all;
  }

  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    const std::vector<LayerStart> layers = find_layers(plan);
    if (layers.size() == 1) return emptiest().compile(std::move(plan), constants, progress);
    const std::vector<LayerShare> shares = shares_by_room(*this, plan, layers);
    TOK_TRY(check_rooms(shares));
    std::vector<Stage> cuts = cut_layers(plan, layers, shares);
    uint64_t total = 0, before = 0;
    for (const Stage& cut : cuts) total += footprint(cut.plan).constants;
    std::vector<RunningStage> running;
    for (size_t i = 0; i < cuts.size(); ++i) {
      const auto own_progress = [&](uint64_t done, uint64_t) {
        return progress(before + done, total);
      };
      TOK_TRY(std::unique_ptr<Program> program,
              stages_[i]->compile(cuts[i].plan, constants,
                                  progress ? LoadProgress(own_progress) : LoadProgress()));
      before += footprint(cuts[i].plan).constants;
      running.push_back({std::move(cuts[i]), std::move(program)});
    }
    return std::make_unique<StagedProgram>(std::move(plan), std::move(running));
  }

 private:
  /// No other division has more room for the layers that do not fit.
  Result<void> check_rooms(std::span<const LayerShare> shares) const {
    const std::vector<DeviceMemoryUse> use = memory_use();
    for (size_t i = 0; i < shares.size(); ++i) {
      const uint64_t room = use[i].free_bytes;
      if (room == 0 || shares[i].bytes <= room) continue;
      return fail(
          ErrorCode::kOutOfMemory, "{} are needed for {} of {}, but \"{}\" has room for {}.",
          bytes_text(shares[i].bytes), layers_text(shares[i]),
          shares.back().first + shares.back().count, stages_[i]->device().name, bytes_text(room));
    }
    return {};
  }

  Backend& emptiest() const {
    const std::vector<DeviceMemoryUse> use = memory_use();
    const auto most = std::ranges::max_element(use, {}, &DeviceMemoryUse::free_bytes);
    return *stages_[size_t(most - use.begin())];
  }

  std::vector<std::unique_ptr<Backend>> stages_;
  std::vector<uint64_t> most_bytes_;  // of each stage; 0: no limit
  DeviceInfo device_;
};

}  // namespace

Result<std::unique_ptr<Backend>> make_stages(std::vector<StageDevice> stages) {
  TOK_CHECK(stages.size() >= 2);
  const DeviceInfo first = stages[0].backend->device();
  std::vector<std::unique_ptr<Backend>> backends;
  std::vector<uint64_t> most_bytes;
  for (StageDevice& stage : stages) {
    const DeviceInfo& own = stage.backend->device();
    if (first.backend != own.backend) {
      return unsupported(
          "Devices that run a model together are of one backend, but \"{}\" and \"{}\" are not.",
          first.name, own.name);
    }
    backends.push_back(std::move(stage.backend));
    most_bytes.push_back(stage.most_bytes);
  }
  return std::make_unique<StagedBackend>(std::move(backends), std::move(most_bytes));
}

std::vector<LayerShare> layer_shares(const Backend& backend, const Plan& plan) {
  if (backend.stages().empty()) return {};
  return shares_by_room(backend, plan, find_layers(plan));
}

Result<void> check_layers(const Backend& backend, const Plan& plan) {
  const size_t devices = backend.stages().size();
  if (devices == 0) return {};
  const size_t layers = find_layers(plan).size();
  if (devices <= layers) return {};
  return fail(ErrorCode::kUsage,
              "gpus are {}, but the model can be cut into {} only: as many as it has layers with a "
              "cache or a state.",
              devices, layers);
}

}  // namespace tokamak
