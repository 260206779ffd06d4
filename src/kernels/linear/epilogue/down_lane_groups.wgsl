// The second product of finish_down.wgsl by lane groups of DOWN_LANES lanes, a power of two: a lane has one
// unit of as many rows, and what it has of all but one goes to its neighbours. AT_ONCE such iterations are
// loaded together, the first of them before the first product ends.
var<private> loaded_down: array<Unit_2, DOWN_DEPTH>;
var<private> down_units: array<Unit_2, DOWN_DEPTH>;
const_assert DOWN_DEPTH == AT_ONCE * DOWN_LANES;

fn load_iteration(iteration: u32, first: u32, lane: u32) {
  for (var i = 0u; i < DOWN_DEPTH; i++) {  // unroll
    let row = (iteration * AT_ONCE + i / DOWN_LANES) * THREADS + lane / DOWN_LANES * DOWN_LANES + i % DOWN_LANES;
    loaded_down[i] = load_down(row, first, lane % DOWN_LANES);
  }
}

fn load_next_product(first: u32, lane: u32) {
  load_iteration(0u, first, lane);
}

fn add_partials(first: u32, lane: u32) {
  let counts = lane % DOWN_LANES < SLICE_UNITS;
  take_gated(min(lane % DOWN_LANES, SLICE_UNITS - 1u));
  for (var iteration = 0u; iteration < DOWN_ITERATIONS; iteration++) {
    down_units = loaded_down;
    if (iteration + 1u < DOWN_ITERATIONS) {
      load_iteration(iteration + 1u, first, lane);
    }
    for (var p = 0u; p < AT_ONCE; p++) {  // unroll
      var partials: array<f32, DOWN_LANES>;
      for (var r = 0u; r < DOWN_LANES; r++) {  // unroll
        partials[r] = select(0.0, unit_product_2(down_units[p * DOWN_LANES + r]), counts);
      }
      // At each step a lane hands half of its rows on, until it has the one of its own number.
      for (var i = 0u; i < LANE_GROUP_STEPS; i++) {  // unroll
        let is_odd = (lane >> i) % 2u == 1u;
        for (var j = 0u; j < HALF_LANE_GROUP; j++) {  // unroll
          if (j < (DOWN_LANES >> (i + 1u))) {
            let given = select(partials[2u * j + 1u], partials[2u * j], is_odd);
            partials[j] = select(partials[2u * j], partials[2u * j + 1u], is_odd) +
                        subgroupShuffleXor(given, 1u << i);
          }
        }
      }
      let row = (iteration * AT_ONCE + p) * THREADS + lane;
      if (row < DOWN_ROWS) {
        add_fixed_point(row, partials[0]);
      }
    }
  }
}
