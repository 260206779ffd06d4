#include <algorithm>
#include <map>

#include "base/bits.h"
#include "base/check.h"
#include "graph/liveness.h"
#include "plan/plan.h"
#include "plan/pool.h"
#include "plan/shards.h"

namespace tokamak {
namespace {

/// Whether the op follows the logits: it compares and copies them.
bool follows_logits(const Op& op) {
  return std::holds_alternative<NextToken>(op) || std::holds_alternative<SampleToken>(op) ||
         std::holds_alternative<BlockArgmax>(op) || std::holds_alternative<BlockMaxima>(op) ||
         std::holds_alternative<TopKBlocks>(op) || std::holds_alternative<TopKTokens>(op);
}

/// The input that holds the token ids, which are part of the batch.
constexpr std::string_view kTokenIds = "tokens";

class Capture {
 public:
  Capture(const DeviceInfo& device, const CaptureOptions& options)
      : device_(device), options_(options) {}

  Result<Plan> run(const Graph& graph) {
    for (const PhaseRequest& request : options_.phases) {
      chunk_ = std::max(chunk_, request.max_tokens);
    }
    plan_.slots = options_.slots;
    plan_.prompt_outputs = options_.prompt_outputs;
    plan_.ranks = options_.ranks;
    const BatchLayout layout = {.slots = plan_.slots, .rows = chunk_};
    plan_.batch = add_buffer(BufferUse::kBatch, layout.bytes(), {});
    for (const PhaseRequest& request : options_.phases) {
      TOK_TRY(phase(request.graph != nullptr ? *request.graph : graph, request));
    }
    add_state_copies();
    place_activations();
    TOK_TRY(check_limits());
    return std::move(plan_);
  }

 private:
  BufferId add_buffer(BufferUse use, uint64_t bytes, TensorDesc tensor) {
    plan_.buffers.push_back({use, round_up<uint64_t>(bytes, 16), std::move(tensor)});
    return BufferId(plan_.buffers.size() - 1);
  }

  /// The buffer of a value that is not an activation; made at its first use, shared by all phases,
  /// this one of at most `tokens`.
  BufferId permanent(const TensorDesc& tensor, uint32_t tokens) {
    TOK_CHECK(tensor.storage != Storage::kActivation);
    const bool is_per_row = tensor.storage == Storage::kInput && tensor.shape[0] == kTokens;
    if (is_per_row && tensor.name == kTokenIds) return plan_.batch;
    const auto [entry, is_new] = permanent_.try_emplace(tensor.name);
    if (is_new) {
      const bool is_sampled = tensor.state && tensor.state->kind == StateKind::kSampled;
      const BufferUse use = tensor.storage == Storage::kConstant ? BufferUse::kConstant
                            : is_sampled                         ? BufferUse::kSampled
                            : tensor.storage == Storage::kState  ? BufferUse::kState
                            : is_per_row                         ? BufferUse::kInput
                            : tensor.shape.size() == 2           ? BufferUse::kRows
                                                                 : BufferUse::kTable;
      const bool is_per_slot =
          use == BufferUse::kTable || (tensor.state && !tensor.state->has_cells());
      const uint64_t bytes = byte_count(tensor, tokens);
      entry->second = add_buffer(use, is_per_slot ? plan_.slots * bytes : bytes, tensor);
    } else {
      // Two contents of one name would silently be the first one.
      TOK_CHECK(plan_.buffers[uint32_t(entry->second)].tensor.recipe == tensor.recipe);
    }
    if (is_per_row) {
      Buffer& buffer = plan_.buffers[uint32_t(entry->second)];
      buffer.bytes = std::max(buffer.bytes, round_up<uint64_t>(byte_count(tensor, tokens), 16));
    }
    return entry->second;
  }

  /// The parts of a weight that the device cannot bind at once; none when it is held whole.
  std::vector<Shard> shards_of(const Graph& graph, ValueId id) {
    const uint64_t together = device_.backend == BackendKind::kCpu ? 0 : rows_together(graph, id);
    if (together == 0) return {};
    std::vector<Shard> shards = cut_rows(graph.at(id), binding_limit(), together);
    for (Shard& shard : shards) shard.buffer = permanent(shard.tensor, chunk_);
    return shards;
  }

  /// The ids have a place of their own, where kernels read them as that.
  static Result<void> check_ids(const Graph& graph) {
    for (const TensorDesc& value : graph.values) {
      if (value.storage != Storage::kInput || value.name != kTokenIds) continue;
      if (value.shape == Shape{kTokens} && value.dtype == DType::kU32) return {};
      return unsupported("The input \"{}\" is {}, expected the token ids: u32[T].", value.name,
                         type_text(value));
    }
    return {};
  }

  Result<void> phase(const Graph& graph, const PhaseRequest& request) {
    TOK_TRY(check_ids(graph));
    const std::vector<LiveRange> ranges = live_ranges(graph);
    std::vector<BufferId> place(graph.values.size());
    std::map<ValueId, std::vector<Shard>> shards;
    std::vector<bool> made(graph.values.size());
    for (const Node& node : graph.nodes) {
      for (const ValueId id : node.outputs) made[uint32_t(id)] = true;
    }
    const std::map<ValueId, size_t> shared = shared_places(graph);
    for (size_t i = 0; i < graph.values.size(); ++i) {
      if (made[i]) continue;
      auto cut = shards_of(graph, ValueId(i));
      if (cut.empty()) {
        place[i] = permanent(graph.values[i], request.max_tokens);
      } else {
        shards[ValueId(i)] = std::move(cut);
      }
    }
    Phase phase{.name = request.name,
                .max_tokens = request.max_tokens,
                .kind = request.kind,
                .from_position = request.from_position};
    for (const Node& node : graph.nodes) {
      for (size_t output = 0; output < node.outputs.size(); ++output) {
        const ValueId id = node.outputs[output];
        const uint32_t i = uint32_t(id);
        if (const auto state = changed_state(graph, node, output)) {
          place[i] = place[uint32_t(node.inputs[*state])];
          continue;
        }
        if (const auto added = added_to(node.op); added && id == node.outputs[0]) {
          place[i] = place[uint32_t(node.inputs[*added])];
          lifetimes_[uint32_t(place[i]) - kFirstActivation].last = moments_ + ranges[i].last;
          continue;
        }
        const uint64_t bytes = round_up<uint64_t>(
            byte_count(graph.at(id), request.max_tokens, max_outputs(plan_, phase)), 16);
        if (const auto read_by_all = shared.find(id); read_by_all != shared.end()) {
          place[i] = shared_with_ranks(read_by_all->second, bytes);
        } else {
          place[i] = activation(lifetimes_.size());
          lifetimes_.push_back({moments_ + ranges[i].first, moments_ + ranges[i].last, bytes});
        }
        ++phase.tensors;
        phase.tensor_bytes += bytes;
      }
      const auto cut = node.inputs.size() < 2 ? shards.end() : shards.find(node.inputs[1]);
      if (cut == shards.end()) {
        TOK_TRY(Step step, make_step(graph, node, place, phase, nullptr));
        phase.steps.push_back(std::move(step));
      } else {
        for (const Shard& shard : cut->second) {
          TOK_TRY(Step step, make_step(graph, node, place, phase, &shard));
          phase.steps.push_back(std::move(step));
        }
      }
    }
    moments_ += uint32_t(graph.nodes.size()) + 1;  // the result outlives the last node
    phase.result = operand(place[uint32_t(graph.result)], graph.at(graph.result));
    plan_.phases.push_back(std::move(phase));
    return {};
  }

  /// A step that the device runs ahead must not reach states for good, and prompts that begin alike
  /// shall not run their beginning twice.
  void add_state_copies() {
    const auto runs_ahead = [](const Phase& phase) { return chooses(phase.kind); };
    if (std::ranges::none_of(plan_.phases, runs_ahead)) return;
    const uint32_t count = std::max(plan_.slots, kMinCheckpoints);
    for (const Buffer& state : std::vector(plan_.buffers)) {
      const bool is_kept_ring = is_ring(state) && plan_.slots > 1;
      if (!is_recurrent_state(state) && !is_kept_ring) continue;
      add_buffer(BufferUse::kCopy, count * (state.bytes / plan_.slots), state.tensor);
    }
  }

  static Operand operand(BufferId buffer, const TensorDesc& tensor) {
    return {buffer, tensor.dtype, tensor.shape};
  }

  Result<Step> make_step(const Graph& graph, const Node& node, const std::vector<BufferId>& place,
                         const Phase& phase, const Shard* shard) {
    Step step;
    step.op = node.op;
    if (shard != nullptr) step.cut = shard->cut;
    for (const ValueId id : node.outputs) {
      step.outputs.push_back(operand(place[uint32_t(id)], graph.at(id)));
    }
    // Kernels know of one number of rows: for output rows it is theirs.
    const uint32_t outputs = max_outputs(plan_, phase);
    const bool is_for_outputs = step.outputs[0].shape[0] == kOutputs;
    Problem problem{.op = &step.op,
                    .inputs = {},
                    .outputs = {},
                    .max_tokens = is_for_outputs ? outputs : phase.max_tokens,
                    .cut = step.cut,
                    .decodes = decodes(phase.kind)};
    if (options_.rows_for_kernels != 0 && !follows_logits(node.op)) {
      problem.max_tokens = options_.rows_for_kernels;
      problem.decodes = false;
    }
    const auto seen = [&](TensorDesc tensor) {
      for (Dim& dim : tensor.shape) {
        if (dim == kOutputs) dim = outputs > 1 ? kTokens : 1;
      }
      return tensor;
    };
    for (const ValueId id : node.outputs) problem.outputs.push_back(seen(graph.at(id)));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      const bool is_cut = shard != nullptr && i == 1;
      const BufferId buffer = is_cut ? shard->buffer : place[uint32_t(id)];
      const TensorDesc& tensor = is_cut ? shard->tensor : graph.at(id);
      // An input that lives where an output goes is that output: it is bound once.
      const bool is_output = std::any_of(step.outputs.begin(), step.outputs.end(),
                                         [&](const Operand& o) { return o.buffer == buffer; });
      if (is_output) continue;
      step.inputs.push_back(operand(buffer, tensor));
      problem.inputs.push_back(seen(tensor));
    }
    TOK_TRY(Selection selection,
            select_variant(problem, device_, options_.forced, options_.advice));
    step.kernel = selection.variant;
    step.passed_over = std::move(selection.passed_over);
    if (step.kernel->launch != nullptr) step.launch = step.kernel->launch(problem, device_);
    return step;
  }

  /// The values that other ranks read, and which of the buffers for that each has. Others may still
  /// read one when this rank has gone on, up to the next collective op, so that two take turns;
  /// more where sums are added up later than they are made.
  static std::map<ValueId, size_t> shared_places(const Graph& graph) {
    std::map<ValueId, ValueId> place_of;  // of values that take the place of another
    std::map<ValueId, size_t> made_by, shared;
    std::vector<size_t> ops;                           // collective ones
    std::vector<std::pair<ValueId, size_t>> given_to;  // values, and which of those reads each
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      for (const ValueId id : node.outputs) made_by[id] = i;
      if (const auto added = added_to(node.op)) place_of[node.outputs[0]] = node.inputs[*added];
      if (!is_collective(node.op)) continue;
      ops.push_back(i);
      if (std::holds_alternative<AllNorm>(node.op)) continue;  // others read no more than sums
      ValueId given = node.inputs[0];
      for (auto found = place_of.find(given); found != place_of.end();
           found = place_of.find(given)) {
        given = found->second;
      }
      given_to.emplace_back(given, ops.size() - 1);
    }
    std::ranges::sort(given_to, {}, [&](const auto& one) { return made_by[one.first]; });
    std::vector<size_t> read_by;  // of each buffer: which of the ops read it last
    for (const auto& [id, op] : given_to) {
      const auto is_free = [&](size_t last) {
        return last + 1 < ops.size() && ops[last + 1] < made_by[id];
      };
      const auto found = std::ranges::find_if(read_by, is_free);
      const auto [place, is_new] = shared.emplace(id, size_t(found - read_by.begin()));
      if (!is_new) {
        read_by[place->second] = std::max(read_by[place->second], op);
      } else if (found == read_by.end()) {
        read_by.push_back(op);
      } else {
        *found = op;
      }
    }
    return shared;
  }

  /// A place that nothing else takes.
  BufferId shared_with_ranks(size_t number, uint64_t bytes) {
    while (shared_.size() <= number) {
      shared_.push_back(lifetimes_.size());
      lifetimes_.push_back({0, 0, 0});
    }
    Lifetime& own = lifetimes_[shared_[number]];
    own.bytes = std::max(own.bytes, bytes);
    return activation(shared_[number]);
  }

  // Activations get buffers only when all phases are done and all lifetimes are known; until then
  // they are numbered from the top.
  static constexpr uint32_t kFirstActivation = 0x80000000u;
  static BufferId activation(size_t index) { return BufferId(kFirstActivation + uint32_t(index)); }

  void place_activations() {
    for (const size_t number : shared_) lifetimes_[number].last = moments_;
    const Placement placement = place_tensors(lifetimes_);
    std::vector<BufferId> ids;
    for (const uint64_t bytes : placement.bytes) {
      ids.push_back(add_buffer(BufferUse::kActivation, bytes, {}));
    }
    const auto fix = [&](Operand& operand) {
      const uint32_t id = uint32_t(operand.buffer);
      if (id < kFirstActivation) return;
      operand.buffer = ids[placement.buffer[id - kFirstActivation]];
    };
    for (Phase& phase : plan_.phases) {
      for (Step& step : phase.steps) {
        for (Operand& operand : step.inputs) fix(operand);
        for (Operand& operand : step.outputs) fix(operand);
      }
      fix(phase.result);
    }
  }

  uint64_t binding_limit() const {
    return std::min(device_.limits.binding_bytes, device_.limits.buffer_bytes);
  }

  static std::string_view what_takes_less(const Buffer& buffer) {
    if (buffer.use == BufferUse::kCopy) return " Fewer sequences take less.";
    if (buffer.use == BufferUse::kState || buffer.use == BufferUse::kTable ||
        std::holds_alternative<RopeTable>(buffer.tensor.recipe)) {
      return " A smaller context takes less.";
    }
    return buffer.use == BufferUse::kActivation ? " A smaller chunk or context takes less." : "";
  }

  Result<void> check_limits() const {
    const uint64_t limit = binding_limit();
    if (device_.backend == BackendKind::kCpu) return {};
    for (const Buffer& buffer : plan_.buffers) {
      // No kernel binds a copy.
      const uint64_t most = buffer.use == BufferUse::kCopy ? device_.limits.buffer_bytes : limit;
      if (buffer.bytes > most) {
        std::string name(use_name(buffer.use));
        if (!buffer.tensor.name.empty()) name += fmt::format(" \"{}\"", buffer.tensor.name);
        return unsupported("{} takes {} bytes, but \"{}\" {} at most {} bytes at once.{}", name,
                           buffer.bytes, device_.name,
                           buffer.use == BufferUse::kCopy ? "allows" : "binds", most,
                           what_takes_less(buffer));
      }
    }
    for (const Phase& phase : plan_.phases) {
      for (const Step& step : phase.steps) {
        const size_t bound =
            step.inputs.size() + step.outputs.size() + step.launch.rebound_inputs.size();
        TOK_CHECK(bound <= device_.limits.storage_buffers);
      }
    }
    return {};
  }

  const DeviceInfo& device_;
  const CaptureOptions& options_;
  Plan plan_;
  std::vector<Lifetime> lifetimes_;  // of all activations of all phases
  uint32_t moments_ = 0;             // of the phases so far
  std::vector<size_t> shared_;       // the lifetimes of what other ranks read
  std::map<std::string, BufferId> permanent_;
  uint32_t chunk_ = 1;  // most tokens of a step
};

}  // namespace

Result<Plan> capture(const Graph& graph, const DeviceInfo& device, const CaptureOptions& options) {
  TOK_TRY(verify(graph));
  for (const PhaseRequest& request : options.phases) {
    if (request.graph != nullptr) TOK_TRY(verify(*request.graph));
  }
  return Capture(device, options).run(graph);
}

Footprint footprint(const Plan& plan) {
  Footprint sum;
  for (const Buffer& buffer : plan.buffers) {
    switch (buffer.use) {
      case BufferUse::kConstant:
        (buffer.on_host ? sum.on_host : sum.constants) += buffer.bytes;
        break;
      case BufferUse::kState:
      case BufferUse::kCopy:
        sum.states += buffer.bytes;
        break;
      case BufferUse::kActivation:
        sum.activations += buffer.bytes;
        break;
      case BufferUse::kBatch:
      case BufferUse::kInput:
      case BufferUse::kRows:
      case BufferUse::kTable:
      case BufferUse::kSampled:
        sum.other += buffer.bytes;
        break;
    }
  }
  return sum;
}

std::string_view use_name(BufferUse use) {
  switch (use) {
    case BufferUse::kBatch:
      return "batch";
    case BufferUse::kInput:
      return "input";
    case BufferUse::kRows:
      return "rows";
    case BufferUse::kTable:
      return "table";
    case BufferUse::kConstant:
      return "constant";
    case BufferUse::kState:
      return "state";
    case BufferUse::kCopy:
      return "copy";
    case BufferUse::kSampled:
      return "sampled";
    case BufferUse::kActivation:
      return "activation";
  }
  return "";
}

}  // namespace tokamak
