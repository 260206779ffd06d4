// Four rows of A by up to TOKENS rows of one sequence per workgroup, whose lanes divide the columns
// among themselves. Contract: lora.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> h: array<vec4<f32>>;

fn run(group: vec3<u32>, lane: u32) {
  let tile = tile_of(group.y, TOKENS);
  let adapter = batch.slot[tile.slot].adapter;
  if (tile.first >= tile.end || adapter == 0u || adapter > ADAPTERS) {
    return;
  }
  let first = ((adapter - 1u) * RANK + group.x * 4u) * (IN / 8u);
  var sums: array<vec4<f32>, TOKENS>;
  for (var k = lane; k < IN / 8u; k += THREADS) {
    let a = weights8(first + k);
    let b = weights8(first + IN / 8u + k);
    let c = weights8(first + 2u * (IN / 8u) + k);
    let d = weights8(first + 3u * (IN / 8u) + k);
    for (var t = 0u; t < TOKENS; t++) {  // unroll
      let at = min(tile.first + t, tile.end - 1u) * (IN / 4u) + 2u * k;
      let low = x[at];
      let high = x[at + 1u];
      sums[t] += vec4(dot(a[0], low) + dot(a[1], high), dot(b[0], low) + dot(b[1], high),
                      dot(c[0], low) + dot(c[1], high), dot(d[0], low) + dot(d[1], high));
    }
  }
  for (var t = 0u; t < TOKENS; t++) {  // unroll
    let total = reduce_sum4(sums[t], lane);
    if (lane == 0u && tile.first + t < tile.end) {
      h[(tile.first + t) * (RANK / 4u) + group.x] = total;
    }
  }
}
