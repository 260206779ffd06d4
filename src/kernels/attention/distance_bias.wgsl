@group(0) @binding(INPUT_3) var<storage, read> bias: array<f32>;

// The bias that a head gives a key's score, by its distance to the query. Positions are below 2^31.
fn bias_of(head: u32, query: u32, key: u32) -> f32 {
  let radius = i32(DISTANCES / 2u);
  let distance = clamp(i32(key) - i32(query), -radius, radius);
  return bias[u32(radius + distance) * HEADS + head];
}

// The same for four queries.
fn biases_of(heads: vec4<u32>, queries: vec4<u32>, key: u32) -> vec4<f32> {
  return vec4(bias_of(heads.x, queries.x, key), bias_of(heads.y, queries.y, key),
      bias_of(heads.z, queries.z, key), bias_of(heads.w, queries.w, key));
}
