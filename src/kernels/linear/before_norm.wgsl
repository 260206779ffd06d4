// rms_norm(x, w): the rows are multiplied with x w, and the common factor with their totals.
@group(0) @binding(W_BINDING) var<storage, read> norm: array<vec4<f32>>;

fn begin(lane: u32) {}

fn prepared(at: u32, counts: bool) -> vec4<f32> {
  let value = select(vec4<f32>(), x[at], counts);
  squares += dot(value, value);
  return value * norm[at];
}

fn scale_of(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(IN) + EPS);
}
