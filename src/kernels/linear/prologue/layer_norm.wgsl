// layer_norm(x, w, bias). NORM_PARTS lanes have a part of the row each: its mean, and the squares of
// what is left, which all lanes then put together (Chan, Golub & LeVeque 1983,
// doi:10.1080/00031305.1983.10483115).
@group(0) @binding(W_BINDING) var<storage, read> norm: array<vec4<f32>>;

const ROW_VECTORS = IN / 4u;

var<workgroup> moments: array<vec2<f32>, NORM_PARTS>;  // of each part: its mean, the squares
var<private> row_mean: f32;
var<private> row_scale: f32;

struct Parts {
  x: vec4<f32>,
  norm: vec4<f32>,
  bias: vec4<f32>,
}

fn parts_of(at: u32) -> Parts {
  var parts = Parts(x_at(at), norm[at], vec4<f32>());
  if (HAS_NORM_BIAS == 1u) {
    parts.bias = norm[ROW_VECTORS + at];
  }
  return parts;
}

// Elements of a part.
fn size_of(part: u32) -> f32 {
  return f32(4u * ((ROW_VECTORS - part + NORM_PARTS - 1u) / NORM_PARTS));
}

fn begin(lane: u32) {
  if (lane < NORM_PARTS) {
    var sum = vec4<f32>();
    for (var at = lane; at < ROW_VECTORS; at += NORM_PARTS) {
      sum += x_at(at);
    }
    let mean = dot(sum, vec4(1.0)) / size_of(lane);
    var squares = 0.0;
    for (var at = lane; at < ROW_VECTORS; at += NORM_PARTS) {
      let left = x_at(at) - mean;
      squares += dot(left, left);
    }
    moments[lane] = vec2(mean, squares);
  }
  workgroupBarrier();
  var sum = 0.0;
  for (var i = 0u; i < NORM_PARTS; i++) {
    sum += moments[i].x * size_of(i);
  }
  row_mean = sum / f32(IN);
  var squares = 0.0;
  for (var i = 0u; i < NORM_PARTS; i++) {
    let apart = moments[i].x - row_mean;
    squares += moments[i].y + apart * apart * size_of(i);
  }
  row_scale = inverseSqrt(squares / f32(IN) + EPS);
}

fn prepared(parts: Parts, at: u32, counts: bool) -> vec4<f32> {
  let value = (parts.x - row_mean) * row_scale * parts.norm + parts.bias;
  return select(vec4<f32>(), value, counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
