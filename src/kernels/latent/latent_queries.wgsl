// The operands and the result of attention to latents, in pairs of elements, and the cells of each of
// the CELL_PARTS parts that the result has. Contract: latent.h.
@group(0) @binding(INPUT_0) var<storage, read> q_latent: array<vec2<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> q_turned: array<vec2<f32>>;
@group(0) @binding(INPUT_2) var<storage, read> cache: array<CacheWord>;
@group(0) @binding(INPUT_3) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<f32>>;

const PAIRS = WIDTH / 2u;
const LATENT_PAIRS = RANK / 2u;
const TURNED_PAIRS = PAIRS - LATENT_PAIRS;

// A pair of the query of a row's head, times the scale.
fn scaled_query_pair(row_head: u32, pair: u32) -> vec2<f32> {
  if (pair < LATENT_PAIRS) {
    return q_latent[row_head * LATENT_PAIRS + pair] * SCALE;
  }
  return q_turned[row_head * TURNED_PAIRS + pair - LATENT_PAIRS] * SCALE;
}

// The first position of a part, and where it ends, of those below `end`.
fn cells_of_part(part: u32, end: u32) -> vec2<u32> {
  let length = (end + CELL_PARTS - 1u) / CELL_PARTS;
  return min(vec2(part * length, (part + 1u) * length), vec2(end));
}

// The sums of every part, then the base of the weights and the total of each of its heads. Of a
// single part they are the result.
const SUM_ROW = HEADS * CELL_PARTS * (LATENT_PAIRS + select(1u, 0u, CELL_PARTS == 1u));

fn store_sums(token: u32, head: u32, part: u32, pair: u32, sums: vec2<f32>, total: f32) {
  let at = token * SUM_ROW + (part * HEADS + head) * LATENT_PAIRS + pair;
  y[at] = select(sums, sums / total, CELL_PARTS == 1u);
}

fn store_score(token: u32, head: u32, part: u32, base: f32, total: f32) {
  if (CELL_PARTS > 1u) {
    y[token * SUM_ROW + CELL_PARTS * HEADS * LATENT_PAIRS + part * HEADS + head] = vec2(base, total);
  }
}
