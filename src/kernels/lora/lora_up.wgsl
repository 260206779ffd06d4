// A column of up to TOKENS rows of one sequence per lane: what a row of B adds to them.
// Contract: lora.h.
@group(0) @binding(INPUT_0) var<storage, read> h: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn run(group: vec3<u32>, lane: u32) {
  let tile = tile_of(group.y, TOKENS);
  let adapter = batch.slot[tile.slot].adapter;
  let column = group.x * THREADS + lane;
  if (tile.first >= tile.end || adapter == 0u || adapter > ADAPTERS || column >= OUT) {
    return;
  }
  let first = ((adapter - 1u) * OUT + column) * (RANK / 8u);
  var sums: array<f32, TOKENS>;
  for (var k = 0u; k < RANK / 8u; k++) {
    let w = weights8(first + k);
    for (var t = 0u; t < TOKENS; t++) {  // unroll
      let at = (min(tile.first + t, tile.end - 1u) * RANKS + FIRST) / 4u + 2u * k;
      sums[t] += dot(w[0], h[at]) + dot(w[1], h[at + 1u]);
    }
  }
  for (var t = 0u; t < TOKENS; t++) {  // unroll
    if (tile.first + t < tile.end) {
      y[(tile.first + t) * OUT + column] += sums[t];
    }
  }
}
