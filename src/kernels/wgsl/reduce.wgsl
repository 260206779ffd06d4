// Sums over the workgroup; every lane gets the result. Needs THREADS, a power of two.
var<workgroup> reduce_partial: array<f32, THREADS>;

fn reduce_sum(value: f32, lane: u32) -> f32 {
  workgroupBarrier();
  reduce_partial[lane] = value;
  for (var stride = THREADS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (lane < stride) {
      reduce_partial[lane] += reduce_partial[lane + stride];
    }
  }
  workgroupBarrier();
  return reduce_partial[0];
}

fn reduce_max(value: f32, lane: u32) -> f32 {
  workgroupBarrier();
  reduce_partial[lane] = value;
  for (var stride = THREADS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (lane < stride) {
      reduce_partial[lane] = max(reduce_partial[lane], reduce_partial[lane + stride]);
    }
  }
  workgroupBarrier();
  return reduce_partial[0];
}

var<workgroup> reduce_partial4: array<vec4<f32>, THREADS>;

fn reduce_sum4(value: vec4<f32>, lane: u32) -> vec4<f32> {
  workgroupBarrier();
  reduce_partial4[lane] = value;
  for (var stride = THREADS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (lane < stride) {
      reduce_partial4[lane] += reduce_partial4[lane + stride];
    }
  }
  workgroupBarrier();
  return reduce_partial4[0];
}
