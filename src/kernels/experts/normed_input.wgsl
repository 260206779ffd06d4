// rms_norm(x, v): the rows are multiplied with x v, and the common factor with their totals.
@group(0) @binding(INPUT_3) var<storage, read> norm: array<vec4<f32>>;

var<private> squares = 0.0;

fn input(at: u32) -> vec4<f32> {
  let value = x[at];
  squares += dot(value, value);
  return value * norm[at];
}

fn input_scale(lane: u32) -> f32 {
  return inverseSqrt(reduce_sum(squares, lane) / f32(IN) + EPS);
}
