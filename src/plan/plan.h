// The plan: everything a backend needs to run a model, as plain data. docs/plan.md explains it.
//
// Buffers are made once; steps never change. What varies from step to step is in the frame
// (kernels/frame.h), so a plan is captured once and replayed.
#pragma once
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/select.h"

namespace tokamak {

enum class BufferId : uint32_t {};

enum class BufferUse : uint8_t {
  kFrame,       // Frame and token ids, written by the host before every step
  kTable,       // page tables, written when a sequence starts
  kConstant,    // weights, written at load
  kState,       // KV caches, states of recurrent layers; live as long as the program
  kCopy,        // of a recurrent state, to come back to
  kSampled,     // what the device knows of the tokens it chose: the last of them, for the host to
                // read, and which have occurred
  kActivation,  // reused by liveness; meaningless between steps
};

/// Whether the device writes there, and not the host.
bool is_written_by_device(BufferUse use);

struct Buffer {
  BufferUse use = BufferUse::kActivation;
  uint64_t bytes = 0;  // a multiple of 16
  /// What it holds, where that is one tensor: constants, states and tables. Of a weight that is cut
  /// each part is a constant of its own, whose recipe names its rows. Activation buffers hold one
  /// tensor after another and have no description.
  TensorDesc tensor;
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

/// The bytes of it that a step of that many tokens may touch: up to the end of a vec4.
uint64_t bound_bytes(const Operand& operand, uint64_t tokens);

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

/// A step sequence for 1..max_tokens tokens.
struct Phase {
  std::string name;
  uint32_t max_tokens = 1;
  /// Not 0: it takes the place of the phase before it for steps from that position on.
  uint32_t from_position = 0;
  std::vector<Step> steps;
  Operand result;
  uint32_t tensors = 0;       // activations before pooling
  uint64_t tensor_bytes = 0;  // their bytes, had each its own buffer
  bool operator==(const Phase&) const = default;
};

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<Phase> phases;
  BufferId frame = {};

  const Buffer& at(BufferId id) const { return buffers[uint32_t(id)]; }
  /// Most tokens of a step; 1 without a phase.
  uint32_t chunk() const;
  /// The phase that steps of that many tokens take: of the fewest tokens that are enough; of
  /// several such the first, so that phases that do more than a step for one token stand after
  /// them. The number of phases when none is enough.
  size_t phase_for(uint64_t tokens) const;
  /// `phase`, or the one that takes its place for a step at that position.
  size_t phase_at(size_t phase, uint32_t position) const;
  /// Where phase_at() changes after that position; the largest number when nowhere.
  uint32_t change_after(size_t phase, uint32_t position) const;
  bool operator==(const Plan&) const = default;
};

/// KV caches are addressed by position: [slots, 2, heads, width]. What a recurrent state has taken
/// in cannot be taken back.
bool is_kv_cache(const Buffer& buffer);
bool is_recurrent_state(const Buffer& buffer);

/// Copies that a plan in which the device runs ahead has of each recurrent state.
inline constexpr uint32_t kStateCopies = 2;

/// One buffer's bytes for another of the same size.
struct BufferCopy {
  BufferId from = {}, to = {};
};
/// From each recurrent state to its copy number `which`; empty where there are none. Their buffers
/// stand after all others that last, in the order of the states.
std::vector<BufferCopy> state_copies(const Plan& plan, uint32_t which);

struct PhaseRequest {
  std::string name;
  uint32_t max_tokens = 1;
  /// The graph of this phase where it has one of its own; its inputs, constants and states are
  /// those of the others where they have the same names. REQUIRES: outlives the call.
  const Graph* graph = nullptr;
  uint32_t from_position = 0;  // as of Phase
};

struct CaptureOptions {
  std::vector<PhaseRequest> phases;
  ForcedVariants forced;
  VariantAdvice advice = {};
};

/// Chooses a kernel for every node, fixes its constants and grid, and places every tensor in a
/// buffer. A weight that a device cannot bind at once is cut by rows: its node becomes a step for
/// each part. Errors: no kernel takes a node; a buffer exceeds a device limit (names the tensor, or
/// that it is an activation, its size and the limit).
Result<Plan> capture(const Graph& graph, const DeviceInfo& device, const CaptureOptions& options);

/// What one step of `tokens` tokens moves and computes; attention and kv_append count the keys and
/// values of `kv_length` positions (within the window). For the roofline in `inspect` and `bench`.
struct Cost {
  uint64_t bytes = 0;
  uint64_t flops = 0;
};
Cost step_cost(const Plan& plan, const Step& step, uint64_t tokens, uint64_t kv_length);
Cost phase_cost(const Plan& plan, const Phase& phase, uint64_t tokens, uint64_t kv_length);

/// Bytes per use, for footprints printed before anything is allocated.
struct Footprint {
  uint64_t constants = 0, states = 0, activations = 0, other = 0;
  uint64_t total() const { return constants + states + activations + other; }
};
Footprint footprint(const Plan& plan);

std::string_view use_name(BufferUse use);

}  // namespace tokamak
