// s = a + rms_norm(x, w), times a factor where there is one; the first workgroup keeps it. In two
// passes over x, which all lanes share: the factor of the norm comes first.
@group(0) @binding(A_BINDING) var<storage, read> residual: array<vec4<f32>>;
@group(0) @binding(W_BINDING) var<storage, read> norm: array<vec4<f32>>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> kept: array<vec4<f32>>;

var<private> first_scale: f32;

fn begin(lane: u32) {
  var sum = 0.0;
  for (var at = lane; at < IN / 4u; at += THREADS) {
    sum += dot(x[at], x[at]);
  }
  fold_all(sum, lane);
  workgroupBarrier();
  first_scale = sum_factor() * inverseSqrt(total_of_all() / f32(IN) + EPS);
  workgroupBarrier();
}

fn sum_of(at: u32, counts: bool) -> vec4<f32> {
  let sum = sum_factor() * residual[at] + x[at] * first_scale * norm[at];
  if (is_first && counts) {
    kept[at] = sum;
  }
  return select(vec4<f32>(), sum, counts);
}
