// The best of each BEST_LANES neighbouring lanes, for the first of them; best.wgsl says what is
// better. Needs BEST_LANES, a power of two.
var<workgroup> bests: array<vec2<f32>, THREADS>;

fn best_of_lanes(own: vec2<f32>, lane: u32) -> vec2<f32> {
  bests[lane] = own;
  for (var stride = BEST_LANES / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (lane % BEST_LANES < stride) {
      bests[lane] = better(bests[lane], bests[lane + stride]);
    }
  }
  return bests[lane];
}
