// 64 rows of one expert, for the slots of up to TOKENS tokens that chose it, in tiles of 32, per
// workgroup of 16 x 8 lanes; see linear/tile.wgsl. What a row is, and where results go, says
// results.wgsl. Contract: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;

const TILE_LINES = 32u;
// The slots of this expert, in any order: each is computed by itself.
var<workgroup> found: atomic<u32>;
var<workgroup> found_slots: array<u32, TOKENS>;
var<workgroup> found_count: u32;
var<private> own_expert: u32;  // in this part of the matrix

// REQUIRES: a token's experts differ, so that at most TOKENS slots are found.
fn find_slots(first_token: u32, expert: u32, lane: u32) -> u32 {
  let end = min(first_token + TOKENS, step_rows()) * TOP_K;
  if (lane == 0u) {
    atomicStore(&found, 0u);
  }
  workgroupBarrier();
  for (var slot = first_token * TOP_K + lane; slot < end; slot += THREADS) {
    if (chosen[slot] == expert) {
      found_slots[min(atomicAdd(&found, 1u), TOKENS - 1u)] = slot;
    }
  }
  workgroupBarrier();
  if (lane == 0u) {
    found_count = min(atomicLoad(&found), TOKENS);
  }
  return workgroupUniformLoad(&found_count);
}

fn tile_x(place: u32, column: u32) -> array<vec4<f32>, 2> {
  if (place >= found_count) {
    return array<vec4<f32>, 2>();
  }
  let slot = found_slots[place];
  let at = ((slot / TOP_K * X_ROWS + slot % X_ROWS) * IN + column) / 4u;
  return array(x[at], x[at + 1u]);
}

fn tile_w(row: u32, column: u32) -> array<vec4<f32>, 2> {
  let stored = own_expert * EXPERT_ROWS + stored_row(min(row, EXPERT_ROWS - 1u));
  return weights8((stored * IN + column) / 8u);
}

fn run(group: vec3<u32>, lane: u32) {
  let first_row = group.x * TILE_ROWS;
  own_expert = group.y;
  let count = find_slots(group.z * TOKENS, FIRST_EXPERT + own_expert, lane);
  for (var tile = 0u; tile < count; tile += TILE_LINES) {
    let sums = tile_products(tile, first_row, lane);
    for (var i = 0u; i < 4u; i++) {
      let place = tile + lane / 16u * 4u + i;
      if (place < count) {
        for (var r = 0u; r < RESULTS; r++) {
          store_result(found_slots[place], first_row + lane % 16u * 4u, r, sums[i]);
        }
      }
    }
  }
}
