@group(0) @binding(INPUT_3) var<storage, read> bias: array<f32>;

// What a head adds to the score of a key, by how far it is from the query. Positions are below 2^31.
fn bias_of(head: u32, query: u32, key: u32) -> f32 {
  let radius = i32(DISTANCES / 2u);
  let distance = clamp(i32(key) - i32(query), -radius, radius);
  return bias[u32(radius + distance) * HEADS + head];
}
