// A value and its column: the larger value wins, the lower column among equals, NaN never.
const LOWEST = -3.4028234e38;

fn better(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  return select(a, b, b.x > a.x || (b.x == a.x && b.y < a.y));
}
