// A value and its column: the larger value wins, the lower column among equals, NaN never.
const LOWEST = -3.4028234e38;

fn better(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  return select(a, b, b.x > a.x || (b.x == a.x && b.y < a.y));
}

var<workgroup> bests: array<vec2<f32>, THREADS>;

// The best of the workgroup, for its first lane. Needs THREADS, a power of two.
fn best_of_all(own: vec2<f32>, lane: u32) -> vec2<f32> {
  bests[lane] = own;
  for (var stride = THREADS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (lane < stride) {
      bests[lane] = better(bests[lane], bests[lane + stride]);
    }
  }
  return bests[0];
}
