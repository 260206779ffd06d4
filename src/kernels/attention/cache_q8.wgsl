// A cell of the cache holds the bytes of its keys' heads, those of its values', and then for each
// head the steps of both, in words of four bytes. Contract: attention.h.
alias CacheWord = u32;
const HEAD_WORDS = HEAD_DIM / 4u;

fn place_of_head(cell: u32, part: u32, kv_head: u32) -> u32 {
  return cell * 2u * KV_HEADS * (HEAD_WORDS + 1u) + (part * KV_HEADS + kv_head) * HEAD_WORDS;
}
fn place_of_step(cell: u32, part: u32, kv_head: u32) -> u32 {
  return place_of_head(cell, 2u, 0u) + 2u * kv_head + part;
}
