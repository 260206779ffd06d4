// The rows of attention_fragments that are the heads of tokens, and the cells that all of them
// share: their latents are values, too. Contract: latent.h.

const VALUES = 0u;
const RESULT_COLUMNS = RANK;
var<workgroup> strips: array<array<vec4<f16>, KEYS * PITCH>, 1>;

// group.x counts blocks of a tile's rows for each part of the cells.
fn first_row_of(place: u32) -> u32 {
  return place % ROW_BLOCKS * ROWS;
}

fn own_keys(place: u32, all_keys: vec2<u32>) -> vec2<u32> {
  return cells_of_part(place / ROW_BLOCKS, all_keys.y);
}

// The words that a lane brings in of the next block's cells: of positions that some row sees.
var<private> next_words: array<CacheWord, OWN_WORDS>;

fn load_block(block: u32, end: u32, slot: u32, lane: u32, place: u32) {
  for (var i = 0u; i < OWN_WORDS; i++) {  // unroll
    let index = lane + i * THREADS;
    let word = index % WIDE;
    next_words[i] = CacheWord();
    if (WIDE == WORDS || word < WORDS) {
      next_words[i] = cache[cell_of(slot, min(block + index / WIDE, end - 1u)) * WORDS + word];
    }
  }
}

fn store_block(lane: u32) {
  for (var i = 0u; i < OWN_WORDS; i++) {  // unroll
    let index = lane + i * THREADS;
    let key = index / WIDE;
    if (KEYS * WIDE % THREADS == 0u || key < KEYS) {
      store_word(0u, key * PITCH + index % WIDE * (WORD / 4u), next_words[i]);
    }
  }
}

fn query_pair(row: u32, pair: u32, tile: Tile, place: u32) -> vec2<f32> {
  return scaled_query_pair(start_of(row, tile, 0u) / HEAD_DIM, pair) * LOG2_E;
}

fn store_two(row: u32, pair: u32, tile: Tile, place: u32, sums: vec2<f32>, total: f32) {
  store_sums(token_of(row, tile), row % HEADS, place / ROW_BLOCKS, pair, sums, total);
}

fn further_weight(row: u32, kv_head: u32, base: f32) -> f32 {
  return 0.0;
}

fn store_base(row: u32, tile: Tile, place: u32, base: f32, total: f32) {
  store_score(token_of(row, tile), row % HEADS, place / ROW_BLOCKS, base, total);
}
