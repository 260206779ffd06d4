// rms_norm(x, w): the rows are multiplied with x w, and the common factor with their totals.
@group(0) @binding(W_BINDING) var<storage, read> norm: array<vec4<f32>>;

struct Parts {
  x: vec4<f32>,
  norm: vec4<f32>,
}

fn parts_of(at: u32) -> Parts {
  return Parts(x_at(at), norm[at]);
}

fn begin(lane: u32) {}

fn prepared(parts: Parts, at: u32, counts: bool) -> vec4<f32> {
  let value = select(vec4<f32>(), parts.x, counts);
  squares += dot(value, value);
  return value * parts.norm;
}

fn scale_of(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(IN) + EPS);
}
