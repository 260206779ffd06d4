fn append(cell: u32, part: u32, kv_head: u32, i: u32, unit: CacheUnit) {
  cache[unit_place(cell, part, kv_head, i)] = unit;
}
