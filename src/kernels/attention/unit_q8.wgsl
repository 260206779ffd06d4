// Eight neighbouring elements of the cache, two words of bytes, with the step of their head. A cell is
// a whole number of pairs of words, and so are its heads; the steps of a key head and of its value
// head are such a pair.
alias StoredUnit = vec2<u32>;
struct CacheUnit {
  bytes: StoredUnit,
  step: f32,
}

fn unpack_bytes(word: u32) -> vec4<f32> {
  return vec4<f32>((vec4(word) >> vec4(0u, 8u, 16u, 24u)) & vec4(255u)) - 128.0;
}
fn unpack_unit(unit: CacheUnit) -> array<vec4<f32>, 2> {
  return array(unpack_bytes(unit.bytes.x) * unit.step, unpack_bytes(unit.bytes.y) * unit.step);
}
fn pack_unit(values: array<vec4<f32>, 2>, step: f32) -> CacheUnit {
  return CacheUnit(vec2(pack_bytes(values[0], step), pack_bytes(values[1], step)), step);
}

fn load_unit(cell: u32, part: u32, kv_head: u32, i: u32) -> CacheUnit {
  return CacheUnit(cache[place_of_head(cell, part, kv_head) / 2u + i],
                   bitcast<f32>(cache[place_of_step(cell, 0u, kv_head) / 2u][part]));
}

// The step of a head that was made ready; the lanes that share a key have its units among them.
fn step_of_head(head: u32, part: u32, lane: u32) -> f32 {
  var largest = 0.0;
  for (var i = 0u; i < OWN; i++) {  // unroll
    let unit = prepared_unit(head, part + i * LANES);
    let four = max(abs(unit[0]), abs(unit[1]));
    largest = max(largest, max(max(four.x, four.y), max(four.z, four.w)));
  }
  return step_of(max_of_lanes(largest, lane));
}
