// x' as it is, in the registers of the lane that needs it, so that no lane waits for another: for a
// workgroup of one lane group, whose rows share x' there, and without a norm, whose squares all lanes add
// up.
const SHARED = false;
const_assert LANE_GROUPS == 1u;
var<private> kept: array<vec4<f32>, PARTS>;
var<private> own: array<vec4<f32>, VECTORS>;  // of x', for the unit at hand

// The vector of a chunk that a lane makes i-th.
fn place_of(i: u32, lane: u32) -> u32 {
  return (i / VECTORS * LANES + lane) * VECTORS + i % VECTORS;
}

fn stage(chunk: u32, lane: u32) {
  for (var i = 0u; i < PARTS; i++) {  // unroll
    kept[i] = make(i, chunk, lane);
  }
}

fn take_unit(round: u32, lane: u32) {
  for (var v = 0u; v < VECTORS; v++) {  // unroll
    own[v] = kept[round * VECTORS + v];
  }
  record_unit();
}
