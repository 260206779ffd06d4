// The same as reduce.wgsl, with one pass per subgroup.
var<workgroup> reduce_partial: array<f32, THREADS>;

fn reduce_sum(value: f32, lane: u32) -> f32 {
  let sum = subgroupAdd(value);
  workgroupBarrier();
  if (subgroup_lane == 0u) {
    reduce_partial[lane / subgroup_lanes] = sum;
  }
  workgroupBarrier();
  var total = 0.0;
  for (var i = 0u; i < (THREADS + subgroup_lanes - 1u) / subgroup_lanes; i++) {
    total += reduce_partial[i];
  }
  return total;
}

fn reduce_max(value: f32, lane: u32) -> f32 {
  let largest = subgroupMax(value);
  workgroupBarrier();
  if (subgroup_lane == 0u) {
    reduce_partial[lane / subgroup_lanes] = largest;
  }
  workgroupBarrier();
  var total = reduce_partial[0];
  for (var i = 1u; i < (THREADS + subgroup_lanes - 1u) / subgroup_lanes; i++) {
    total = max(total, reduce_partial[i]);
  }
  return total;
}

var<workgroup> reduce_partial4: array<vec4<f32>, THREADS>;

fn reduce_sum4(value: vec4<f32>, lane: u32) -> vec4<f32> {
  let sum = subgroupAdd(value);
  workgroupBarrier();
  if (subgroup_lane == 0u) {
    reduce_partial4[lane / subgroup_lanes] = sum;
  }
  workgroupBarrier();
  var total = vec4<f32>();
  for (var i = 0u; i < (THREADS + subgroup_lanes - 1u) / subgroup_lanes; i++) {
    total += reduce_partial4[i];
  }
  return total;
}
