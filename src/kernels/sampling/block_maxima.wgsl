// LANES lanes for each block of neighbours; rows are grid.y. Contract: topk_tokens.h
@group(0) @binding(INPUT_0) var<storage, read> x: array<u32>;  // as bits
@group(0) @binding(INPUT_1) var<storage, read> allowed: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<f32>>;

const INFINITE = -1e30;  // more than all sums take back

var<workgroup> best_orders: array<u32, THREADS>;
var<workgroup> sums: array<f32, THREADS>;

fn run(group: vec3<u32>, lane: u32) {
  let block = group.x * (THREADS / LANES) + lane / LANES;
  let part = lane % LANES;
  var own: array<u32, BLOCK / LANES>;
  var best = 0u;
  for (var i = 0u; i < BLOCK / LANES; i++) {
    let column = block * BLOCK + i * LANES + part;
    own[i] = select(NO_NUMBER, logit_at(group.y, min(column, COLUMNS - 1u)), column < COLUMNS);
    best = max(best, order_of(own[i]));
  }
  best_orders[lane] = best;
  for (var stride = LANES / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (part < stride) {
      best_orders[lane] = max(best_orders[lane], best_orders[lane + stride]);
    }
  }
  workgroupBarrier();
  best = best_orders[lane - part];
  let peak = value_of(best);
  var sum = 0.0;
  for (var i = 0u; i < BLOCK / LANES; i++) {
    let bits = own[i];
    let order = order_of(bits);
    if (bits == 0x7f800000u) {
      sum += INFINITE;
    } else if (order == best && order != 0u) {
      sum += 1.0;
    } else if (order != 0u) {
      sum += exp((bitcast<f32>(bits) - peak) * batch.slot[slot_of_row(group.y)].inverse_temperature);
    }
  }
  sums[lane] = sum;
  for (var stride = LANES / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (part < stride) {
      sums[lane] += sums[lane + stride];
    }
  }
  if (part == 0u && block < BLOCKS) {
    y[group.y * BLOCKS + block] = vec2(peak, select(sums[lane], -1.0, sums[lane] < 0.0));
  }
}
