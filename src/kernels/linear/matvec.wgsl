// REPEATS times GROUP_ROWS rows for one token per workgroup. A lane group of LANES lanes takes a row, BLOCK
// rows at a time, and a chunk of columns after the other: prologue/*.wgsl makes its x' vector by
// vector, of parts that are loaded early, and staging/*.wgsl keeps it, SHARED by all lane groups or not.
// What a unit of weights is, the codec says (quant/units_*.wgsl). reduction/*.wgsl adds up what the lanes
// of a lane group have, row by row (reduction/each.wgsl) or four at once, finish() takes the totals of
// GROUP_ROWS rows. x is floats or fixed-point sums (x_floats.wgsl, x_sums.wgsl). The rows of
// the matrix are those of rows.wgsl, experts/slot_rows.wgsl or experts/mix_rows.wgsl.
// Contract: linear.h, ../experts/fused_experts.h
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

const UNITS = IN / UNIT;
const CHUNK_UNITS = ROUNDS * LANES;
const CHUNK = VECTORS * CHUNK_UNITS;  // vectors
const CHUNKS = (UNITS + CHUNK_UNITS - 1u) / CHUNK_UNITS;
const LANE_GROUPS = THREADS / LANES;
const GROUP_ITERATIONS = GROUP_ROWS / (LANE_GROUPS * BLOCK) * CHUNKS;
const_assert ITERATIONS == REPEATS * GROUP_ITERATIONS;
const_assert GROUP_ROWS % 2u == 0u;  // they end in pairs

var<private> squares = 0.0;  // of the vectors that this lane made
var<private> is_first: bool;  // whether this workgroup has the first rows

// The units of the next iteration, on their way, and those of the iteration at hand.
var<private> loaded: array<Unit, ROUNDS * BLOCK>;
var<private> units: array<Unit, ROUNDS * BLOCK>;

fn load_units(first: u32, iteration: u32, lane: u32) {
  let row = first + iteration / CHUNKS * (LANE_GROUPS * BLOCK) + lane / LANES * BLOCK;
  let unit = iteration % CHUNKS * CHUNK_UNITS + lane % LANES;
  for (var round = 0u; round < ROUNDS; round++) {  // unroll
    for (var r = 0u; r < BLOCK; r++) {  // unroll
      loaded[round * BLOCK + r] =
          load_unit(unit_of(min(row + r, ROWS - 1u), min(unit + round * LANES, UNITS - 1u)));
    }
  }
}

// The parts that this lane's x' of a chunk are made of.
var<private> own_parts: array<Parts, PARTS>;

fn load_parts(chunk: u32, lane: u32) {
  for (var i = 0u; i < PARTS; i++) {  // unroll
    own_parts[i] = parts_of(min(chunk * CHUNK + place_of(i, lane), IN / 4u - 1u));
  }
}

// A launch that begins before the one in front has ended may read only weights up to here:
// cuda/device.cuh has the wait.
fn await_inputs() {}

fn load_next(first: u32, iteration: u32, lane: u32) {
  if (iteration + 1u < ITERATIONS) {
    if (CHUNKS > 1u) {
      load_parts((iteration + 1u) % CHUNKS, lane);
    }
    load_units(first, iteration + 1u, lane);
  }
}

fn is_in_row(chunk: u32, place: u32) -> bool {
  return place < CHUNK && chunk * CHUNK + place < IN / 4u;
}

fn make(i: u32, chunk: u32, lane: u32) -> vec4<f32> {
  let place = place_of(i, lane);
  return prepared(own_parts[i], min(chunk * CHUNK + place, IN / 4u - 1u), is_in_row(chunk, place));
}

fn run(group: vec3<u32>, lane: u32) {
  let first = first_row(group);
  if (!begin_rows(group, first, lane)) {
    return;
  }
  is_first = FIRST_ROW + first == 0u;
  load_parts(0u, lane);
  begin_finish(first, lane);
  begin(lane);
  var scale = 1.0;
  var sums: array<f32, BLOCK>;
  for (var iteration = 0u; iteration < ITERATIONS; iteration++) {  // unroll, at most UNROLLED_ITERATIONS
    if (iteration == 0u || CHUNKS > 1u) {
      if (SHARED && iteration > 0u) {
        workgroupBarrier();
      }
      stage(iteration % CHUNKS, lane);
      if (SHARED) {
        if (iteration == CHUNKS - 1u) {
          reduce_all(1u, squares, lane);
        }
        workgroupBarrier();
      }
    }
    if (iteration == CHUNKS - 1u) {
      scale = scale_of(total_of_all(1u));  // while weights are in flight
    }
    units = loaded;
    if (iteration == ITERATIONS - 1u) {
      load_next_product(first, lane);
    }
    if (AHEAD == 1u) {
      load_next(first, iteration, lane);
    }
    for (var round = 0u; round < ROUNDS; round++) {  // unroll
      take_unit(round, lane);
      for (var r = 0u; r < BLOCK; r++) {  // unroll
        sums[r] += unit_product(units[round * BLOCK + r]);
      }
    }
    if (AHEAD == 0u) {
      load_next(first, iteration, lane);
    }
    if (iteration % CHUNKS == CHUNKS - 1u) {
      let row = iteration % GROUP_ITERATIONS / CHUNKS * (LANE_GROUPS * BLOCK) + lane / LANES * BLOCK;
      reduce_rows(row, sums, lane);
      sums = array<f32, BLOCK>();
    }
    if (iteration % GROUP_ITERATIONS == GROUP_ITERATIONS - 1u) {
      let group_first = first + iteration / GROUP_ITERATIONS * GROUP_ROWS;
      workgroupBarrier();
      finish(group_first, scale, lane);
      if (REPEATS > 1u) {
        workgroupBarrier();
        begin_finish(group_first + GROUP_ROWS, lane);
      }
    }
  }
}
