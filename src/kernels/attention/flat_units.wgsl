// Units of a cache that holds nothing else, one after the other: [cells, 2, KV_HEADS, UNITS].
alias StoredUnit = CacheUnit;

fn unit_place(cell: u32, part: u32, kv_head: u32, i: u32) -> u32 {
  return ((cell * 2u + part) * KV_HEADS + kv_head) * UNITS + i;
}
fn load_unit(cell: u32, part: u32, kv_head: u32, i: u32) -> CacheUnit {
  return cache[unit_place(cell, part, kv_head, i)];
}

// Elements are stored as they are: there is no step to find.
fn step_of_head(head: u32, part: u32, lane: u32) -> f32 {
  return 1.0;
}
