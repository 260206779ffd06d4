// One head of one token per workgroup, and one part of the cells, for steps of few rows. Cells come in blocks of BLOCK: each
// subgroup scores four at a time, its lanes along a cell; then each lane sums its own elements of
// every PARTS-th four of the latents. Contract: latent.h.

const OWN_PAIRS = (LATENT_PAIRS + COLUMN_LANES - 1u) / COLUMN_LANES;
const PARTS = THREADS / COLUMN_LANES;
const LOWEST = -3.0e38;

var<workgroup> query: array<vec2<f32>, PAIRS>;
var<workgroup> scores: array<f32, BLOCK>;
var<workgroup> cells: array<u32, BLOCK>;
var<workgroup> sums: array<vec2<f32>, THREADS>;
var<workgroup> subgroup_count: u32;

fn run(group: vec3<u32>, lane: u32) {
  let slot = slot_of_row(group.y);
  let own_cells = cells_of_part(group.z, position_of(group.y) + 1u);
  let end = own_cells.y;
  let row_head = group.y * HEADS + group.x;
  for (var i = lane; i < PAIRS; i += THREADS) {
    query[i] = scaled_query_pair(row_head, i);
  }
  // Read so, it is known to be the same for all lanes.
  if (lane == 0u) {
    subgroup_count = THREADS / subgroup_lanes;
  }
  let subgroups = workgroupUniformLoad(&subgroup_count);
  let own_subgroup = lane / subgroup_lanes;
  let column = lane % COLUMN_LANES;
  let part = lane / COLUMN_LANES;
  var own: array<vec2<f32>, OWN_PAIRS>;
  var largest = LOWEST;
  var total = 0.0;
  for (var block = own_cells.x; block < end; block += BLOCK) {
    let count = min(BLOCK, end - block);
    // Fours are whole: what is beyond the end is a cell that is there, with weight 0.
    let fours = (count + 3u) / 4u;
    workgroupBarrier();
    for (var j = lane; j < 4u * fours; j += THREADS) {
      cells[j] = cell_of(slot, min(block + j, end - 1u)) * PAIRS;
    }
    workgroupBarrier();
    for (var first = 0u; first < fours; first += subgroups) {
      let four = min(first + own_subgroup, fours - 1u);
      let a = cells[4u * four];
      let b = cells[4u * four + 1u];
      let c = cells[4u * four + 2u];
      let d = cells[4u * four + 3u];
      var score = vec4(0.0);
      for (var i = subgroup_lane; i < PAIRS; i += subgroup_lanes) {
        let q = query[i];
        score += vec4(dot(q, unpack_cache(cache[a + i])), dot(q, unpack_cache(cache[b + i])),
                      dot(q, unpack_cache(cache[c + i])), dot(q, unpack_cache(cache[d + i])));
      }
      let at_a = subgroupAdd(score.x);
      let at_b = subgroupAdd(score.y);
      let at_c = subgroupAdd(score.z);
      let at_d = subgroupAdd(score.w);
      if (subgroup_lane == 0u && first + own_subgroup < fours) {
        scores[4u * four] = at_a;
        scores[4u * four + 1u] = at_b;
        scores[4u * four + 2u] = at_c;
        scores[4u * four + 3u] = at_d;
      }
    }
    workgroupBarrier();
    var best = LOWEST;
    for (var j = lane; j < count; j += THREADS) {
      best = max(best, scores[j]);
    }
    let now_largest = max(largest, reduce_max(best, lane));
    var weight = 0.0;
    for (var j = lane; j < 4u * fours; j += THREADS) {
      let one = select(0.0, exp(scores[j] - now_largest), j < count);
      scores[j] = one;
      weight += one;
    }
    let shrink = exp(largest - now_largest);
    total = total * shrink + reduce_sum(weight, lane);
    largest = now_largest;
    for (var o = 0u; o < OWN_PAIRS; o++) {
      let i = column + o * COLUMN_LANES;
      if (i < LATENT_PAIRS) {
        var sum = own[o] * shrink;
        for (var four = part; four < fours; four += PARTS) {
          let j = 4u * four;
          let a = unpack_cache(cache[cells[j] + i]);
          let b = unpack_cache(cache[cells[j + 1u] + i]);
          let c = unpack_cache(cache[cells[j + 2u] + i]);
          let d = unpack_cache(cache[cells[j + 3u] + i]);
          sum += a * scores[j] + b * scores[j + 1u] + c * scores[j + 2u] + d * scores[j + 3u];
        }
        own[o] = sum;
      }
    }
  }
  for (var o = 0u; o < OWN_PAIRS; o++) {
    let i = column + o * COLUMN_LANES;
    workgroupBarrier();
    sums[lane] = own[o];
    workgroupBarrier();
    if (part == 0u && i < LATENT_PAIRS) {
      var sum = sums[column];
      for (var p = 1u; p < PARTS; p++) {
        sum += sums[column + p * COLUMN_LANES];
      }
      store_sums(group.y, group.x, group.z, i, sum, total);
    }
  }
  if (lane == 0u) {
    store_score(group.y, group.x, group.z, largest, total);
  }
}
