// A form of entry.wgsl for kernels that give each subgroup a part of the work. Its number is handed
// on as a parameter: of a private variable no one could know that a subgroup's lanes see the same.
@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32,
        @builtin(subgroup_id) subgroup: u32) {
  run(group, lane, subgroup);
}

