// Attention to latents by matrix units: a workgroup has as many heads, of one or several tokens, as
// a fragment has rows, and one part of the cells. Wider ones, which share more loads, were slower
// on an H200: fewer of them run at the same time (docs/history/performance.md).
#include <numeric>

#include "kernels/latent/latent_launch.h"
#include "kernels/launch.h"
#include "kernels/workgroup_memory.h"

namespace tokamak {
namespace {

constexpr uint32_t kRows = kMatrixSide;
constexpr uint32_t kKeys = kMatrixSide;  // cells at a time
/// Fragments of a subgroup's columns, whose queries and sums its registers hold.
constexpr uint32_t kMaxFragments = 6;

/// How the subgroups of a workgroup divide its columns.
struct ColumnTile {
  uint32_t splits;     // subgroups, each with some of the columns
  uint32_t fragments;  // of a subgroup's columns

  uint32_t columns() const { return splits * fragments * kMatrixSide; }
  uint32_t threads() const { return splits * kMatrixLanes; }
};

ColumnTile tile_of(const Problem& p) {
  const uint32_t all = ceil_div(cell_width(p), kMatrixSide), splits = ceil_div(all, kMaxFragments);
  return {.splits = splits, .fragments = ceil_div(all, splits)};
}

/// Tokens whose heads are rows of a tile: those of one token each, unless there are several of a
/// sequence; then as many as fill whole workgroups.
uint32_t tokens_of(const Problem& p) {
  if (p.max_tokens == 1 || p.decodes) return 1;
  const uint32_t heads = attention_heads(p);
  return std::lcm(heads, kRows) / heads;
}

}  // namespace

std::string latent_fragments_refuse(const Problem& p, const DeviceInfo& device) {
  if (p.inputs[2].dtype != DType::kF16) return "is for f16 caches";
  const uint32_t width = cell_width(p);
  if (width % 4 != 0) return fmt::format("cells of {} elements are no multiple of 4", width);
  if (std::string lanes = lacks_matrix_lanes(device); !lanes.empty()) return lanes;
  const ColumnTile tile = tile_of(p);
  if (std::string few = small_workgroups(device, tile.threads()); !few.empty()) return few;
  const uint32_t strip = kKeys * (tile.columns() + 8) * 2;
  const uint32_t partials = tile.splits * kRows * (kKeys + 4) * 4;
  return refuse_workgroup_bytes(strip + partials, device);
}

Launch latent_fragments_launch(const Problem& p, const DeviceInfo&) {
  const ColumnTile tile = tile_of(p);
  const uint32_t width = cell_width(p), word = width % 8 == 0 ? 8 : 4;
  const uint32_t tokens = tokens_of(p), blocks = ceil_div(tokens * attention_heads(p), kRows);
  Launch launch = latent_attention_base(p, tile.threads());
  launch.constants.insert(launch.constants.end(),
                          {{"KV_HEADS", 1u},
                           {"HEAD_DIM", width},
                           {"WINDOW", 0u},
                           {"CAUSAL", 1u},
                           {"SOFTCAP", 0.0f},
                           {"TOKENS", tokens},
                           {"ROWS", kRows},
                           {"ROW_BLOCKS", blocks},
                           {"KEYS", kKeys},
                           {"KEY_FRAGMENTS", kKeys / kMatrixSide},
                           {"OWN_WORDS", ceil_div(kKeys * tile.columns() / word, tile.threads())},
                           {"SPLITS", tile.splits},
                           {"FRAGMENTS", tile.fragments},
                           {"PARTS", 1u},
                           {"PARTIALS", tile.splits}});
  launch.sources = {
      word == 8 ? "attention/cache_f16_eights.wgsl" : "attention/cache_f16_fours.wgsl",
      "attention/cell_of.wgsl", "attention/positions.wgsl", "attention/until.wgsl",
      "attention/softcap.wgsl", "attention/matrix_rows.wgsl", "latent/latent_queries.wgsl",
      "attention/attention_fragments.wgsl", "latent/latent_strip.wgsl",
      // The last tokens see most cells: theirs are not to be what the device waits for in the end.
      "wgsl/entry_last_first.wgsl"};
  launch.grid = {.x = {blocks * p.as<LatentAttention>().splits}, .y = {1, tokens, tokens > 1}};
  return launch;
}

}  // namespace tokamak
