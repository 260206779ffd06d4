// Each head of HEAD columns normed by itself, gated or not. HEAD_PARTIALS lanes add up the squares
// of a head.
@group(0) @binding(W_BINDING) var<storage, read> norm: array<vec4<f32>>;

const HEAD_VECTORS = HEAD / 4u;
const NORMED_HEADS = IN / HEAD;
var<workgroup> head_partials: array<f32, NORMED_HEADS * HEAD_PARTIALS>;
var<workgroup> head_scales: array<f32, NORMED_HEADS>;

struct Parts {
  x: vec4<f32>,
  gate: vec4<f32>,
  norm: vec4<f32>,
}

fn parts_of(at: u32) -> Parts {
  return Parts(x[at], gate_of(at), norm[at % HEAD_VECTORS]);
}

fn begin(lane: u32) {
  for (var i = lane; i < NORMED_HEADS * HEAD_PARTIALS; i += THREADS) {
    let start = i / HEAD_PARTIALS * HEAD_VECTORS;
    var sum = 0.0;
    for (var at = i % HEAD_PARTIALS; at < HEAD_VECTORS; at += HEAD_PARTIALS) {
      sum += dot(x[start + at], x[start + at]);
    }
    head_partials[i] = sum;
  }
  workgroupBarrier();
  for (var head = lane; head < NORMED_HEADS; head += THREADS) {
    var sum = 0.0;
    for (var i = 0u; i < HEAD_PARTIALS; i++) {
      sum += head_partials[head * HEAD_PARTIALS + i];
    }
    head_scales[head] = inverseSqrt(sum / f32(HEAD) + EPS);
  }
  workgroupBarrier();
}

fn prepared(parts: Parts, at: u32, counts: bool) -> vec4<f32> {
  let value = parts.gate * parts.x * head_scales[at / HEAD_VECTORS] * parts.norm;
  return select(vec4<f32>(), value, counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
