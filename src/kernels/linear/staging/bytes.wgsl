// x' in eights.wgsl's bytes, shared by all lane groups.
const SHARED = true;
const STRIDE = CHUNK_UNITS + 1u;
const STAGED_EIGHTS = EIGHTS * STRIDE;
const STAGED_UNITS = CHUNK_UNITS;

// The vector of a chunk that a lane makes i-th: two neighbours.
fn place_of(i: u32, lane: u32) -> u32 {
  return 2u * (i / 2u * THREADS + lane) + i % 2u;
}

// Zeros after the last column, as in staging/floats.wgsl.
fn stage(chunk: u32, lane: u32) {
  for (var i = 0u; i < EACH; i++) {  // unroll
    let made = array(make(2u * i, chunk, lane), make(2u * i + 1u, chunk, lane));
    let eight = i * THREADS + lane;
    stage_eight(made, eight % EIGHTS * STRIDE + eight / EIGHTS, eight / EIGHTS,
                eight % EIGHTS == 0u, eight < CHUNK / 2u);
  }
}

fn take_unit(round: u32, lane: u32) {
  let unit = round * LANES + lane % LANES;
  for (var e = 0u; e < EIGHTS; e++) {  // unroll
    own[e] = staged[e * STRIDE + unit];
  }
  own_step = unit_steps[unit];
}
