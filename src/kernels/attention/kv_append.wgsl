// Two neighbouring elements of a key and of a value per lane; tokens are grid.y. Contract:
// attention.h.
@group(0) @binding(INPUT_0) var<storage, read> k: array<vec2<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> v: array<vec2<f32>>;
@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> cache: array<CacheWord>;

fn run(group: vec3<u32>, lane: u32) {
  let pairs = COLUMNS / 2u;
  let pair = group.x * THREADS + lane;
  if (pair >= pairs) {
    return;
  }
  let cell = cell_of(slot_of_row(group.y), position_of(group.y));
  cache[cell * 2u * pairs + pair] = pack_cache(k[group.y * pairs + pair]);
  cache[cell * 2u * pairs + pairs + pair] = pack_cache(v[group.y * pairs + pair]);
}

