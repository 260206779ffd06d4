// The rank of an element of the best blocks is how many others of them come before it; a workgroup
// ranks PIECE elements. Those below the last block's peak have at least LISTED before them, one in
// each block, and are not ranked; nor are those that do not count. The last workgroup adds the sums
// up. Rows are grid.y.
// Contract: topk_tokens.h
@group(0) @binding(INPUT_0) var<storage, read> x: array<u32>;  // as bits
@group(0) @binding(INPUT_1) var<storage, read> maxima: array<vec2<f32>>;
@group(0) @binding(INPUT_2) var<storage, read> blocks: array<f32>;
@group(0) @binding(INPUT_3) var<storage, read> allowed: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<u32>;  // as bits

const INFINITE = -1e30;
const LIST = 2u * LISTED + 1u;

var<workgroup> own_orders: array<u32, PIECE>;
var<workgroup> own_columns: array<u32, PIECE>;
var<workgroup> ranks: array<atomic<u32>, PIECE>;
var<workgroup> found: atomic<u32>;    // of this piece
var<workgroup> counted: atomic<u32>;  // of all

fn maximum_of(row: u32, place: u32) -> f32 {
  return maxima[row * BLOCKS + u32(blocks[row * KEPT + place])].x;
}

// The column of element i of the best blocks.
fn column_of(row: u32, i: u32) -> u32 {
  return u32(blocks[row * KEPT + i / BLOCK]) * BLOCK + i % BLOCK;
}

fn add_sums(row: u32, lane: u32) {
  let largest = maximum_of(row, 0u);
  var sum = 0.0;
  for (var i = lane; i < BLOCKS; i += THREADS) {
    let peak = maxima[row * BLOCKS + i];
    if (peak.y < 0.0) {
      sum += INFINITE;
    } else if (peak.y > 0.0) {
      sum += peak.y * exp((peak.x - largest) * batch.slot[slot_of_row(row)].inverse_temperature);
    }
  }
  let total = reduce_sum(sum, lane);
  if (lane == 0u) {
    y[row * LIST + 2u * LISTED] = bitcast<u32>(select(total, -1.0, total < 0.0));
  }
}

fn run(group: vec3<u32>, lane: u32) {
  let row = group.y;
  if (group.x * PIECE >= KEPT * BLOCK) {
    add_sums(row, lane);
    return;
  }
  if (lane == 0u) {
    atomicStore(&found, 0u);
    atomicStore(&counted, 0u);
  }
  for (var i = lane; i < PIECE; i += THREADS) {
    atomicStore(&ranks[i], 0u);
  }
  workgroupBarrier();
  var least = 1u;
  if (KEPT >= LISTED) {
    least = max(least, order_of(bitcast<u32>(maximum_of(row, KEPT - 1u))));
  }
  for (var i = group.x * PIECE + lane; i < min(group.x * PIECE + PIECE, KEPT * BLOCK); i += THREADS) {
    let column = column_of(row, i);
    if (column < COLUMNS) {
      let order = order_of(logit_at(row, column));
      if (order >= least) {
        let at = atomicAdd(&found, 1u);
        own_orders[at] = order;
        own_columns[at] = column;
      }
    }
  }
  workgroupBarrier();
  let count = atomicLoad(&found);
  var seen = 0u;
  for (var i = lane; i < KEPT * BLOCK; i += THREADS) {
    let column = column_of(row, i);
    if (column < COLUMNS) {
      let order = order_of(logit_at(row, column));
      if (order >= least) {
        seen += 1u;
        for (var own = 0u; own < count; own += 1u) {
          if (order > own_orders[own] || (order == own_orders[own] && column < own_columns[own])) {
            atomicAdd(&ranks[own], 1u);
          }
        }
      }
    }
  }
  atomicAdd(&counted, seen);
  workgroupBarrier();
  for (var own = lane; own < count; own += THREADS) {
    let rank = atomicLoad(&ranks[own]);
    if (rank < LISTED) {
      let column = own_columns[own];
      y[row * LIST + 2u * rank] = x[row * COLUMNS + column];
      y[row * LIST + 2u * rank + 1u] = bitcast<u32>(f32(column));
    }
  }
  if (group.x == 0u) {
    for (var rank = atomicLoad(&counted) + lane; rank < LISTED; rank += THREADS) {
      y[row * LIST + 2u * rank] = bitcast<u32>(LOWEST);
      y[row * LIST + 2u * rank + 1u] = bitcast<u32>(-1.0);
    }
  }
}
