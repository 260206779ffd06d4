// The plan: everything a backend needs to run a model, as plain data; docs/kernels-and-plans.md.
//
// Buffers are made once; steps never change. What varies from step to step is in the batch
// (kernels/batch.h), so a plan is captured once and replayed.
#pragma once
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/select.h"

namespace tokamak {

enum class BufferId : uint32_t {};

enum class BufferUse : uint8_t {
  kBatch,       // the batch and its token ids, written by the host before every step
  kInput,       // what else the host writes for each row: embeddings, positions
  kRows,        // rows for all steps, which the host writes now and then: images
  kTable,       // page tables, one for each slot
  kConstant,    // weights, written at load
  kState,       // KV caches, for all slots; states of recurrent layers, one for each slot; live as
                // long as the program
  kCopy,        // of states and windows, to come back to: one place after the other
  kSampled,     // what the device knows of the tokens it chose: the last of them, for the host to
                // read, which have occurred, and which it may choose
  kActivation,  // reused by liveness; meaningless between steps
};

/// Whether the device writes there, and not the host.
bool is_written_by_device(BufferUse use);

struct Buffer {
  BufferUse use = BufferUse::kActivation;
  uint64_t bytes = 0;  // a multiple of 16
  /// The tensor that it holds, where it is one: constants, states and tables. Each part of a weight
  /// that is cut is a constant of its own, whose recipe names its rows. Activation buffers hold one
  /// tensor after another and have no description.
  TensorDesc tensor;
  /// A constant that stays in the host's memory, where kernels read it over the bus; only for
  /// backends that can (CUDA).
  bool on_host = false;
  bool operator==(const Buffer&) const = default;
};

/// A tensor in a buffer, from its first byte on (WebGPU: no two operands share a writable buffer).
struct Operand {
  BufferId buffer = {};
  DType dtype = DType::kF32;
  Shape shape;

  TensorDesc tensor() const { return {.name = {}, .shape = shape, .dtype = dtype}; }
  bool operator==(const Operand&) const = default;
};

/// "f32[T,64]"
inline std::string type_text(const Operand& operand) {
  return type_text(operand.tensor());
}

struct Step {
  Op op;
  const KernelVariant* kernel = nullptr;
  std::vector<Operand> inputs, outputs;  // binding order
  RowCut cut;                            // of the matrix that the step reads
  Launch launch;                         // WGSL kernels only
  std::vector<std::string> passed_over;  // why each better variant was not taken
  bool operator==(const Step&) const = default;
};

/// The purpose of a phase.
enum class PhaseKind : uint8_t {
  kPrefill,  // any number of tokens of each sequence
  kImages,  // the same, where the host gives the angles of each row: images stand in two dimensions
  kSound,   // a stage of what a model hears; its rows are no tokens
  kDecode,  // one token of each, gives logits
  kSampled,  // decode that ends in a list of the most probable tokens and a token drawn from it
  kGreedy,   // decode that ends in the most probable token
  kVerify,   // any number of tokens of each, each of which gives a list as of kSampled
};
inline constexpr std::string_view kPhaseKindNames[] = {"prefill", "images", "sound", "decode",
                                                       "sampled", "greedy", "verify"};
/// Whether each sequence has one row.
inline bool decodes(PhaseKind kind) {
  return kind == PhaseKind::kDecode || kind == PhaseKind::kSampled || kind == PhaseKind::kGreedy;
}
/// Whether the device chooses the tokens of the next step.
inline bool chooses(PhaseKind kind) {
  return kind == PhaseKind::kSampled || kind == PhaseKind::kGreedy;
}

/// A step sequence for 1..max_tokens tokens.
struct Phase {
  std::string name;
  uint32_t max_tokens = 1;
  PhaseKind kind = PhaseKind::kPrefill;
  /// Not 0: it takes the place of the phase before it for steps from that position on.
  uint32_t from_position = 0;
  std::vector<Step> steps;
  Operand result;
  uint32_t tensors = 0;       // activations before pooling
  uint64_t tensor_bytes = 0;  // their bytes, had each its own buffer
  bool operator==(const Phase&) const = default;
};

/// The limit of outputs with logits: each output row has them for the whole vocabulary.
inline constexpr uint32_t kMaxPromptOutputs = 8;

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<Phase> phases;
  BufferId batch = {};
  uint32_t slots = 1;  // sequences that it holds at once
  /// Most output rows of a step over prompts.
  uint32_t prompt_outputs = kMaxPromptOutputs;
  /// The devices that run it together, each with buffers as these; its constants are those
  /// of_rank().
  uint32_t ranks = 1;

  const Buffer& at(BufferId id) const { return buffers[uint32_t(id)]; }
  /// The buffer of the tensor of that name. REQUIRES: there is one.
  BufferId named(std::string_view name) const;
  /// Most tokens of a step that reads prompts; 1 without one.
  uint32_t chunk() const;
  /// Most rows of any step: one that decodes may have more, one of each sequence.
  uint32_t max_rows() const;
  BatchLayout layout() const { return {.slots = slots, .rows = max_rows()}; }
  /// The phase of that kind for steps of that many tokens: of the fewest tokens that are enough.
  /// One token of one sequence is prefill and decoding: for prefill, a phase of one token that
  /// decodes will do, too. The number of phases when there is none.
  size_t phase_for(uint64_t tokens, PhaseKind kind = PhaseKind::kPrefill) const;
  /// `phase`, or the one that takes its place for a step at that position.
  size_t phase_at(size_t phase, uint32_t position) const;
  /// The position after that one at which phase_at() changes; the largest number without one.
  uint32_t change_after(size_t phase, uint32_t position) const;
  bool operator==(const Plan&) const = default;
};

/// Most sequences of a step of that phase.
uint32_t max_slots(const Plan& plan, const Phase& phase);
/// Most output rows; a phase that verifies has no others.
uint32_t max_outputs(const Plan& plan, const Phase& phase);
/// Whether the rows of a step are output rows, of which there may be several.
bool is_for_outputs(const Plan& plan, const Phase& phase, const Step& step);
BatchAccess batch_access(const Plan& plan, const Phase& phase, const Step& step);
/// The size of what a step runs.
struct BatchSize {
  uint32_t rows = 1, slots = 1, outputs = 1;
  bool operator==(const BatchSize&) const = default;
};
/// Whether a step of that phase can be as large.
bool fits(const Plan& plan, const Phase& phase, const BatchSize& size);
/// The bytes of a step's result. Where tokens are chosen it holds those of the last steps.
uint64_t result_bytes(const Plan& plan, const Operand& result, const BatchSize& size);
/// The bytes of an operand that a step of that phase may touch: up to the end of a vec4.
uint64_t bound_bytes(const Plan& plan, const Operand& operand, const Phase& phase);

/// States as the graph declares them (graph/state.h). KV caches are those with cells; rings are
/// those of windows.
bool is_kv_cache(const Buffer& buffer);
bool is_ring(const Buffer& buffer);
bool is_recurrent_state(const Buffer& buffer);

/// Bytes of one buffer for another; multiples of 4.
struct BufferCopy {
  BufferId from = {}, to = {};
  uint64_t from_first = 0, to_first = 0, bytes = 0;

  BufferCopy reversed() const { return {to, from, to_first, from_first, bytes}; }
};

/// The state of a sequence that no page holds, to come back to: recurrent states, and the keys and
/// values in windows. A plan in which the device runs ahead has room for some checkpoints of the
/// first, a plan for several sequences for one of each sequence, of both.
inline constexpr uint32_t kMinCheckpoints = 2;
/// How many checkpoints hold all that a sequence has; 0: none do, or there is nothing to hold.
uint32_t checkpoints(const Plan& plan);
/// From the recurrent states of a slot to checkpoint `number`; empty where there are none.
std::vector<BufferCopy> state_copies(const Plan& plan, uint32_t slot, uint32_t number);
/// The same, with the windows. REQUIRES: number < checkpoints(plan).
std::vector<BufferCopy> checkpoint_copies(const Plan& plan, uint32_t slot, uint32_t number);

struct PhaseRequest {
  std::string name;
  uint32_t max_tokens = 1;
  PhaseKind kind = PhaseKind::kPrefill;
  /// The graph of this phase where it has one of its own; its inputs, constants and states are
  /// those of the others where they have the same names. REQUIRES: outlives the call.
  const Graph* graph = nullptr;
  uint32_t from_position = 0;  // as of Phase
};

struct CaptureOptions {
  std::vector<PhaseRequest> phases;
  ForcedVariants forced;
  VariantAdvice advice = {};
  uint32_t slots = 1;  // sequences that the plan shall hold at once
  uint32_t prompt_outputs = kMaxPromptOutputs;
  uint32_t ranks = 1;  // that graphs are cut for (compile/shard.h)
  /// Unless 0: in steps of any phase a row is computed by the kernels for steps of that many rows,
  /// those of its head included, and so to the same bits whatever is beside it. REQUIRES: two slots
  /// or more, and graphs that are the same but for the choice of the next token.
  uint32_t rows_for_kernels = 0;
};

/// Chooses a kernel for every node, fixes its constants and grid, and places every tensor in a
/// buffer. A weight that a device cannot bind at once is cut by rows: its node becomes a step for
/// each part. Errors: no kernel takes a node; a buffer exceeds a device limit (names the tensor, or
/// that it is an activation, its size and the limit).
Result<Plan> capture(const Graph& graph, const DeviceInfo& device, const CaptureOptions& options);

/// The bytes and operations of one step of `tokens` tokens; attention counts the keys and values of
/// `kv_length` positions (within the window), which each of `sequences` has of its own; kv_append
/// and rope_append count those of the step's tokens.
/// For the roofline in `inspect` and `bench`.
struct Cost {
  uint64_t bytes = 0;
  uint64_t flops = 0;
  uint64_t link_bytes = 0;  // the fewest that a rank takes from the others, and gives them
};
Cost step_cost(const Plan& plan, const Step& step, uint64_t tokens, uint64_t kv_length,
               uint64_t sequences = 1);
Cost phase_cost(const Plan& plan, const Phase& phase, uint64_t tokens, uint64_t kv_length,
                uint64_t sequences = 1);

/// Bytes per use, for footprints printed before anything is allocated.
struct Footprint {
  uint64_t constants = 0, states = 0, activations = 0, other = 0;  // of the device's memory
  uint64_t on_host = 0;                                            // constants that stay there
  uint64_t total() const { return constants + states + activations + other; }
};
Footprint footprint(const Plan& plan);

std::string_view use_name(BufferUse use);

}  // namespace tokamak
