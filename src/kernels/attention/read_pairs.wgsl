// Pairs of neighbouring elements of a head in the cache.
alias CachedHead = u32;

fn cached_head(cell: u32, part: u32, kv_head: u32) -> CachedHead {
  return ((cell * 2u + part) * KV_HEADS + kv_head) * (HEAD_DIM / 2u);
}
fn cached_pair(head: CachedHead, i: u32) -> vec2<f32> {
  return unpack_cache(cache[head + i]);
}
