// s = a + rms_norm(x, w), times a factor where there is one; the first workgroup keeps it. The
// factor of the norm comes first; where x is more than one chunk, from a pass over x by itself.
@group(0) @binding(A_BINDING) var<storage, read> residual: array<vec4<f32>>;
@group(0) @binding(W_BINDING) var<storage, read> norm: array<vec4<f32>>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> kept: array<vec4<f32>>;

struct Parts {
  x: vec4<f32>,
  residual: vec4<f32>,
  norm: vec4<f32>,
  second_norm: vec4<f32>,
}

fn parts_of(at: u32) -> Parts {
  return Parts(x_at(at), residual[at], norm[at], second_norm_of(at));
}

var<private> first_scale: f32;

fn begin(lane: u32) {
  var sum = 0.0;
  if (CHUNKS == 1u) {
    for (var i = 0u; i < PARTS; i++) {  // unroll
      let value = own_parts[i].x;
      sum += select(0.0, dot(value, value), is_in_row(0u, place_of(i, lane)));
    }
  } else {
    for (var at = lane; at < IN / 4u; at += THREADS) {
      sum += dot(x_at(at), x_at(at));
    }
  }
  reduce_all(0u, sum, lane);
  workgroupBarrier();
  first_scale = sum_factor() * inverseSqrt(total_of_all(0u) / f32(IN) + EPS);
}

fn sum_of(parts: Parts, at: u32, counts: bool) -> vec4<f32> {
  let sum = sum_factor() * parts.residual + parts.x * first_scale * parts.norm;
  if (is_first && counts) {
    kept[at] = sum;
  }
  return select(vec4<f32>(), sum, counts);
}
