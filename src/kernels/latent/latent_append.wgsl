// Two neighbouring elements of a cell per lane; tokens are grid.y. Contract: latent.h.
@group(0) @binding(INPUT_0) var<storage, read> latent: array<vec2<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> turned: array<vec2<f32>>;
@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> cache: array<CacheWord>;

const PAIRS = WIDTH / 2u;
const LATENT_PAIRS = RANK / 2u;

fn run(group: vec3<u32>, lane: u32) {
  let pair = group.x * THREADS + lane;
  if (pair >= PAIRS) {
    return;
  }
  let cell = cell_of(slot_of_row(group.y), position_of(group.y));
  var value = vec2<f32>();
  if (pair < LATENT_PAIRS) {
    value = latent[group.y * LATENT_PAIRS + pair];
  } else {
    value = turned[group.y * (PAIRS - LATENT_PAIRS) + pair - LATENT_PAIRS];
  }
  cache[cell * PAIRS + pair] = pack_cache(value);
}
