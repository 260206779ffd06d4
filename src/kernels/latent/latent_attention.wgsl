// Four heads of one token per workgroup, and one part of the cells. Cells come in blocks of THREADS: each lane scores one for
// the four heads, then each lane sums its own elements of the latents. Contract: latent.h.

const OWN_PAIRS = (LATENT_PAIRS + THREADS - 1u) / THREADS;
const LOWEST = -3.0e38;

// The two elements of each pair, of the four heads.
var<workgroup> query: array<vec4<f32>, WIDTH>;
var<workgroup> weights: array<vec4<f32>, THREADS>;
var<workgroup> cells: array<u32, THREADS>;

fn run(group: vec3<u32>, lane: u32) {
  let slot = slot_of_row(group.y);
  let own_cells = cells_of_part(group.z, position_of(group.y) + 1u);
  let end = own_cells.y;
  var heads: array<u32, 4>;
  for (var h = 0u; h < 4u; h++) {
    heads[h] = group.y * HEADS + min(group.x * 4u + h, HEADS - 1u);
  }
  for (var i = lane; i < PAIRS; i += THREADS) {
    let a = scaled_query_pair(heads[0], i);
    let b = scaled_query_pair(heads[1], i);
    let c = scaled_query_pair(heads[2], i);
    let d = scaled_query_pair(heads[3], i);
    query[2u * i] = vec4(a.x, b.x, c.x, d.x);
    query[2u * i + 1u] = vec4(a.y, b.y, c.y, d.y);
  }
  workgroupBarrier();

  var first_sums: array<vec4<f32>, OWN_PAIRS>;
  var second_sums: array<vec4<f32>, OWN_PAIRS>;
  var largest = vec4(LOWEST);
  var total = vec4(0.0);
  for (var block = own_cells.x; block < end; block += THREADS) {
    let position = block + lane;
    var score = vec4(LOWEST);
    if (position < end) {
      let cell = cell_of(slot, position) * PAIRS;
      cells[lane] = cell;
      score = vec4(0.0);
      for (var i = 0u; i < PAIRS; i++) {
        let key = unpack_cache(cache[cell + i]);
        score += query[2u * i] * key.x + query[2u * i + 1u] * key.y;
      }
    }
    let first_best = reduce_max(score.x, lane);
    let second_best = reduce_max(score.y, lane);
    let third_best = reduce_max(score.z, lane);
    let fourth_best = reduce_max(score.w, lane);
    let now_largest = max(largest, vec4(first_best, second_best, third_best, fourth_best));
    var weight = vec4(0.0);
    if (position < end) {
      weight = exp(score - now_largest);
    }
    weights[lane] = weight;
    let shrink = exp(largest - now_largest);
    total = total * shrink + reduce_sum4(weight, lane);
    largest = now_largest;
    let count = min(THREADS, end - block);
    for (var own = 0u; own < OWN_PAIRS; own++) {
      let i = lane + own * THREADS;
      if (i < LATENT_PAIRS) {
        var first = first_sums[own] * shrink;
        var second = second_sums[own] * shrink;
        for (var j = 0u; j < count; j++) {
          let value = unpack_cache(cache[cells[j] + i]);
          first += weights[j] * value.x;
          second += weights[j] * value.y;
        }
        first_sums[own] = first;
        second_sums[own] = second;
      }
    }
    workgroupBarrier();
  }
  for (var own = 0u; own < OWN_PAIRS; own++) {
    let i = lane + own * THREADS;
    if (i < LATENT_PAIRS) {
      for (var h = 0u; h < 4u; h++) {
        let head = group.x * 4u + h;
        if (head < HEADS) {
          store_sums(group.y, head, group.z, i, vec2(first_sums[own][h], second_sums[own][h]), total[h]);
        }
      }
    }
  }
  if (lane < 4u && group.x * 4u + lane < HEADS) {
    store_score(group.y, group.x * 4u + lane, group.z, largest[lane], total[lane]);
  }
}
