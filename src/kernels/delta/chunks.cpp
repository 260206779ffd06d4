#include "kernels/delta/chunks.h"

#include <cmath>

#include "kernels/delta/recurrence.h"
#include "kernels/workgroup_memory.h"

namespace tokamak {
namespace {

/// Subgroups that prepare the next chunk.
constexpr uint32_t kHelpers = 4;
/// Subgroups with sixteen columns of the state each: they share what the helpers prepare.
constexpr uint32_t kMaxWorkers = 4;
/// A chunk takes as long as some five tokens one by one.
constexpr uint32_t kMinTokens = 8;
constexpr uint32_t kMaxKeys = 256;  // whose columns of the state a lane's registers hold

struct ChunkShape {
  uint32_t heads, dk, dv;

  explicit ChunkShape(const Problem& p)
      : heads(uint32_t(p.outputs[1].shape[0])),
        dk(uint32_t(p.outputs[1].shape[1])),
        dv(uint32_t(p.outputs[1].shape[2])) {}

  uint32_t fragments() const { return ceil_div(dk, kMatrixSide); }
  /// Blocks of sixteen tokens in a chunk: two where workgroup memory has room for their keys.
  uint32_t blocks() const { return fragments() <= 8 ? 2 : 1; }
  uint32_t workers() const { return std::min(ceil_div(dv, kMatrixSide), kMaxWorkers); }
  uint32_t threads() const { return (workers() + kHelpers) * kMatrixLanes; }
  uint32_t bytes() const {
    const uint32_t tokens = blocks() * kMatrixSide;
    const uint32_t vectors = 4 * tokens * (fragments() * kMatrixSide + 8) * 2;
    return vectors + 4 * tokens * (tokens + 8) * 2 + 3 * tokens * 16 + 1024 * blocks();
  }
};

}  // namespace

std::string chunks_refuse(const Problem& p, const DeviceInfo& device) {
  if (p.decodes || p.max_tokens < kMinTokens) {
    return fmt::format("is for {} tokens of a sequence and more", kMinTokens);
  }
  const ChunkShape shape(p);
  if (shape.dk % 4 != 0) return fmt::format("keys of {} elements are no multiple of 4", shape.dk);
  if (shape.dk > kMaxKeys) {
    return fmt::format("keys of {} elements exceed {}", shape.dk, kMaxKeys);
  }
  const auto width = uint32_t(p.inputs[0].shape[1]);
  if (width % 4 != 0) return fmt::format("rows of {} elements are no multiple of 4", width);
  // In front of a scan's keys stand its values.
  if (shape.heads * shape.dv % 4 != 0) {
    return fmt::format("values of {} elements are no multiple of 4", shape.heads * shape.dv);
  }
  if (std::string lanes = lacks_matrix_lanes(device); !lanes.empty()) return lanes;
  if (std::string few = small_workgroups(device, shape.threads()); !few.empty()) return few;
  return refuse_workgroup_bytes(shape.bytes(), device);
}

Launch chunks_launch(const Problem& p, std::string_view name, std::vector<Constant> own) {
  const ChunkShape shape(p);
  own = with_sizes(p, std::move(own));
  own.insert(own.end(), {{"THREADS", shape.threads()},
                         {"FRAGMENTS", shape.fragments()},
                         {"BLOCKS", shape.blocks()},
                         {"OWN_ROWS", shape.blocks() * kMatrixSide / kHelpers},
                         {"QUADS", ceil_div(shape.fragments() * 4, kMatrixLanes)},
                         {"WORKERS", shape.workers()},
                         {"HELPERS", kHelpers},
                         {"KEY_BOUND", std::sqrt(float(shape.dk))}});
  return {.constants = std::move(own),
          .sources = {"wgsl/powers.wgsl", "delta/rule.wgsl", fmt::format("delta/{}.wgsl", name),
                      "delta/chunk_fragments.wgsl", "wgsl/entry_subgroup_id.wgsl"},
          .grid = {.x = {ceil_div(shape.dv, shape.workers() * kMatrixSide)},
                   .y = {shape.heads},
                   .z = {1, 0, true}}};
}

}  // namespace tokamak
