// The same as entry_subgroup_id.wgsl, the last workgroups of y first.
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32, @builtin(subgroup_id) subgroup: u32) {
  run(vec3(group.x, groups.y - 1u - group.y, group.z), lane, subgroup);
}
