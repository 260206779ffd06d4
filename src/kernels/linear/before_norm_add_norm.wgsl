// rms_norm(s, w) with s = a + rms_norm(x, u), which the first workgroup keeps.
@group(0) @binding(A_BINDING) var<storage, read> residual: array<vec4<f32>>;
@group(0) @binding(U_BINDING) var<storage, read> first_norm: array<vec4<f32>>;
@group(0) @binding(W_BINDING) var<storage, read> norm: array<vec4<f32>>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> kept: array<vec4<f32>>;

var<private> first_scale: f32;

fn begin(lane: u32) {
  var sum = 0.0;
  for (var at = lane; at < IN / 4u; at += THREADS) {
    sum += dot(x[at], x[at]);
  }
  fold(GROUP_ROWS, sum, lane);
  workgroupBarrier();
  first_scale = scale_of(total(GROUP_ROWS));
  workgroupBarrier();
}

fn prepared(at: u32, counts: bool) -> vec4<f32> {
  let sum = select(vec4<f32>(), residual[at] + x[at] * first_scale * first_norm[at], counts);
  if (is_first && counts) {
    kept[at] = sum;
  }
  squares += dot(sum, sum);
  return sum * norm[at];
}

fn scale_of(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(IN) + EPS);
}
