// Eight weights of any type at a time, by all lanes of GROUPS workgroups.
@group(0) @binding(INPUT_0) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec4<u32>>;

fn run(group: vec3<u32>, lane: u32) {
  for (var i = group.x * THREADS + lane; i < EIGHTS; i += GROUPS * THREADS) {
    let w = weights8(i);
    y[i] = vec4(as_half(w[0]), as_half(w[1]));
  }
}
