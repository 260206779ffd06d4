// The rows of attention_fragments that are a token's heads with one key head, and their keys and
// values. Contract: attention.h.
@group(0) @binding(INPUT_0) var<storage, read> q: array<vec2<f32>>;

// The keys of a block (0) and its values (1).
const VALUES = 1u;
const RESULT_COLUMNS = HEAD_DIM;
var<workgroup> strips: array<array<vec4<f16>, KEYS * PITCH>, 2>;

fn first_row_of(kv_head: u32) -> u32 {
  return 0u;
}

fn own_keys(kv_head: u32, all_keys: vec2<u32>) -> vec2<u32> {
  return all_keys;
}

// The words that a lane brings in of the keys and values of the next block: of positions that some
// row sees.
var<private> next_keys: array<CacheWord, OWN_WORDS>;
var<private> next_values: array<CacheWord, OWN_WORDS>;

fn load_block(block: u32, end: u32, slot: u32, lane: u32, kv_head: u32) {
  for (var i = 0u; i < OWN_WORDS; i++) {  // unroll
    let index = lane + i * THREADS;
    let cell = cell_of(slot, min(block + index / WIDE, end - 1u));
    let word = index % WIDE;
    next_keys[i] = CacheWord();
    next_values[i] = CacheWord();
    if (WIDE == WORDS || word < WORDS) {
      next_keys[i] = cache[(cell * 2u * KV_HEADS + kv_head) * WORDS + word];
      next_values[i] = cache[((cell * 2u + 1u) * KV_HEADS + kv_head) * WORDS + word];
    }
  }
}

fn store_block(lane: u32) {
  for (var i = 0u; i < OWN_WORDS; i++) {  // unroll
    let index = lane + i * THREADS;
    let key = index / WIDE;
    if (KEYS * WIDE % THREADS == 0u || key < KEYS) {
      let at = key * PITCH + index % WIDE * (WORD / 4u);
      store_word(0u, at, next_keys[i]);
      store_word(1u, at, next_values[i]);
    }
  }
}

fn query_pair(row: u32, pair: u32, tile: Tile, kv_head: u32) -> vec2<f32> {
  return q[start_of(row, tile, kv_head) / 2u + pair] * QUERY_SCALE;
}

fn store_two(row: u32, pair: u32, tile: Tile, kv_head: u32, sums: vec2<f32>, total: f32) {
  store_pair(start_of(row, tile, kv_head) / 2u + pair, sums / total);
}

// The weight of a row's sink, if any, beside those that are 2 to the power of score - base.
fn further_weight(row: u32, kv_head: u32, base: f32) -> f32 {
  return sink_weight(head_of(row, kv_head), base / LOG2_E);
}

fn store_base(row: u32, tile: Tile, kv_head: u32, base: f32, total: f32) {
}
