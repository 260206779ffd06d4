// The operands of attention to latents, in pairs of elements. Contract: latent.h.
@group(0) @binding(INPUT_0) var<storage, read> q_latent: array<vec2<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> q_turned: array<vec2<f32>>;
@group(0) @binding(INPUT_2) var<storage, read> cache: array<CacheWord>;
@group(0) @binding(INPUT_3) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec2<f32>>;

const PAIRS = WIDTH / 2u;
const LATENT_PAIRS = RANK / 2u;
const TURNED_PAIRS = PAIRS - LATENT_PAIRS;
const LOWEST = -3.0e38;

// A pair of the query of a row's head, times the scale.
fn query_pair(row_head: u32, pair: u32) -> vec2<f32> {
  if (pair < LATENT_PAIRS) {
    return q_latent[row_head * LATENT_PAIRS + pair] * SCALE;
  }
  return q_turned[row_head * TURNED_PAIRS + pair - LATENT_PAIRS] * SCALE;
}
