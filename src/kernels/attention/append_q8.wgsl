fn append(cell: u32, part: u32, kv_head: u32, i: u32, unit: CacheUnit) {
  cache[place_of_head(cell, part, kv_head) / 2u + i] = unit.bytes;
  // The same lane writes both steps of the pair.
  if (i == 0u) {
    cache[place_of_step(cell, 0u, kv_head) / 2u][part] = bitcast<u32>(unit.step);
  }
}
