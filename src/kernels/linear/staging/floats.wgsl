// x' as it is. Neighbouring lanes read the same vector of neighbouring units: these are neighbours
// here, and a vector of padding spreads what neighbouring lanes write over the banks.
const SHARED = true;
const STRIDE = CHUNK_UNITS + 1u;
var<workgroup> staged: array<vec4<f32>, VECTORS * STRIDE>;
var<private> own: array<vec4<f32>, VECTORS>;  // of x', for the unit at hand

// The vector of a chunk that a lane makes i-th.
fn place_of(i: u32, lane: u32) -> u32 {
  return i * THREADS + lane;
}

// Zeros after the last column, so that what is loaded there does not count: a branch would make
// every load wait for the one before.
fn stage(chunk: u32, lane: u32) {
  for (var i = 0u; i < PARTS; i++) {  // unroll
    let made = make(i, chunk, lane);
    let at = place_of(i, lane);
    if (at < CHUNK) {
      staged[at % VECTORS * STRIDE + at / VECTORS] = made;
    }
  }
}

fn take_unit(round: u32, lane: u32) {
  let unit = round * LANES + lane % LANES;
  for (var v = 0u; v < VECTORS; v++) {  // unroll
    own[v] = staged[v * STRIDE + unit];
  }
  record_unit();
}
