// 64 rows of one expert, for the slots of up to TOKENS tokens that chose it, in tiles of 32. A
// workgroup of 16 x 8 lanes; each lane owns 4 slots x 4 rows and walks the columns in steps of 32
// through workgroup memory. What a row is, and where results go, says store_*.wgsl. Contract: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

const ROWS = 64u;
const SLOTS = 32u;
const STEP = 32u;
// [column][slot], then [column][row], so that a lane reads its four neighbours at once.
const W_TILE = STEP * SLOTS / 4u;
var<workgroup> tiles: array<vec4<f32>, STEP * (SLOTS + ROWS) / 4u>;
// The slots of this expert, in any order: each is computed by itself.
var<workgroup> found: atomic<u32>;
var<workgroup> found_slots: array<u32, TOKENS>;
var<workgroup> found_count: u32;

// REQUIRES: a token's experts differ, so that at most TOKENS slots are found.
fn find_slots(first_token: u32, expert: u32, lane: u32) -> u32 {
  let end = min(first_token + TOKENS, frame.tokens) * TOP_K;
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

fn run(group: vec3<u32>, lane: u32) {
  let first_row = group.x * ROWS;
  let expert = group.y;  // in this part of the matrix
  let count = find_slots(group.z * TOKENS, FIRST_EXPERT + expert, lane);
  let own_rows = lane % 16u;
  let own_slots = lane / 16u;
  // Some lanes bring in eight neighbouring columns of four slots or of four rows each. They store
  // whole vectors: a store to one component may touch the others, which another lane owns.
  let brings_x = lane < SLOTS;
  let brings_w = lane >= SLOTS && lane < SLOTS + ROWS;
  let bring = select(lane - SLOTS, lane, brings_x) / 4u;
  let bring_columns = (lane % 4u) * 8u;
  let stride = select(ROWS, SLOTS, brings_x) / 4u;
  let place = select(W_TILE, 0u, brings_x) + bring_columns * stride + bring;
  for (var tile = 0u; tile < count; tile += SLOTS) {
    var sums = array<vec4<f32>, 4>();
    for (var start = 0u; start < IN; start += STEP) {
      let column = start + bring_columns;
      var block = array<array<vec4<f32>, 2>, 4>();
      for (var i = 0u; i < 4u; i++) {
        let place_in_list = tile + bring * 4u + i;
        let row = min(first_row + bring * 4u + i, EXPERT_ROWS - 1u);
        if (brings_x && column < IN && place_in_list < count) {
          let slot = found_slots[place_in_list];
          let at = ((slot / TOP_K * X_ROWS + slot % X_ROWS) * IN + column) / 4u;
          block[i] = array(x[at], x[at + 1u]);
        }
        if (brings_w && column < IN) {
          block[i] = weights8(((expert * EXPERT_ROWS + stored_row(row)) * IN + column) / 8u);
        }
      }
      workgroupBarrier();
      if (brings_x || brings_w) {
        for (var i = 0u; i < 8u; i++) {
          tiles[place + i * stride] = vec4(block[0][i / 4u][i % 4u], block[1][i / 4u][i % 4u],
                                           block[2][i / 4u][i % 4u], block[3][i / 4u][i % 4u]);
        }
      }
      workgroupBarrier();
      for (var k = 0u; k < STEP; k++) {
        let a = tiles[k * (SLOTS / 4u) + own_slots];
        let b = tiles[W_TILE + k * (ROWS / 4u) + own_rows];
        sums[0] += a.x * b;
        sums[1] += a.y * b;
        sums[2] += a.z * b;
        sums[3] += a.w * b;
      }
    }
    for (var i = 0u; i < 4u; i++) {
      let place_in_list = tile + own_slots * 4u + i;
      if (place_in_list < count) {
        store_rows(found_slots[place_in_list], first_row + own_rows * 4u, sums[i]);
      }
    }
  }
}

