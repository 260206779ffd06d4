// Pairs of neighbouring elements of a head in the cache: halves of its words.
struct CachedHead {
  place: u32,
  step: f32,
}

fn cached_head(cell: u32, part: u32, kv_head: u32) -> CachedHead {
  return CachedHead(place_of_head(cell, part, kv_head),
                    bitcast<f32>(cache[place_of_step(cell, part, kv_head)]));
}
fn cached_pair(head: CachedHead, i: u32) -> vec2<f32> {
  let half = cache[head.place + i / 2u] >> (16u * (i % 2u));
  return (vec2<f32>(vec2(half, half >> 8u) & vec2(255u)) - 128.0) * head.step;
}
