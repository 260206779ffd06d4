// As reduce.wgsl, with one pass per subgroup. The subgroup size is read, never assumed; subgroups
// are taken to hold neighbouring lanes, which the kernel self-test of a device checks.
var<workgroup> reduce_partial: array<f32, THREADS>;
var<private> subgroup_lane: u32;
var<private> subgroup_lanes: u32;

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

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32,
        @builtin(subgroup_invocation_id) own_lane: u32, @builtin(subgroup_size) lanes: u32) {
  subgroup_lane = own_lane;
  subgroup_lanes = lanes;
  run(group, lane);
}

