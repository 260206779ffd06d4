@group(0) @binding(NORMS_BINDING) var<storage, read> norms: array<vec4<f32>>;

var<workgroup> head_squares: array<f32, THREADS>;

// A lane's sum goes to all lanes of its head. Values have a norm without weights, or none.
fn norm_scale(head: u32, squares: f32, lane: u32) -> f32 {
  head_squares[lane] = squares;
  workgroupBarrier();
  var sum = 0.0;
  for (var i = 0u; i < HEAD_LANES; i++) {
    sum += head_squares[min(lane / HEAD_LANES * HEAD_LANES + i, THREADS - 1u)];
  }
  return select(inverseSqrt(sum / f32(HEAD_DIM) + EPS), 1.0, is_value(head) && NORM_V == 0u);
}
fn norm_weight(head: u32, i: u32) -> vec4<f32> {
  if (is_value(head)) {
    return vec4<f32>(1.0);
  }
  return norms[select(0u, HEAD_FOURS, is_key(head)) + i];
}
