// A form of attention_tile by subgroups' matrix units: queries, keys, values and weights are f16,
// sums f32. A subgroup has sixteen rows, and two of its lanes share one. Contract: attention.h.
//
// Sums that lie in matrix units cannot be scaled there when a larger score turns up. So weights
// count from a base that follows the largest score of a row only where that leads by LEAD, which is
// seldom; then the sums go through workgroup memory.
@group(0) @binding(INPUT_0) var<storage, read> q: array<vec4<f32>>;

const ROWS = SUBGROUPS * SIDE;
const LEAD = 8.0;  // e^8 is far below the largest f16

// A head in words of the cache, and as wide as its fragments: zeros follow the head's columns.
const WORDS = HEAD_DIM / WORD;
const WIDE = FRAGMENTS * SIDE / WORD;

// Sixteen rows of 32 columns, padded so that they begin in different banks: of queries, at first;
// then the keys of a block, and then its values. Fragments must begin at multiples of 16 bytes:
// every variable has a multiple of 16 bytes, whatever order they are placed in.
const PITCH = 10u;
alias Strip = array<vec4<f16>, SIDE * PITCH>;
var<workgroup> strips: array<Strip, max(SUBGROUPS, KEYS / SIDE * STRIPS)>;
const SCORE_PITCH = KEYS / 4u + 1u;
var<workgroup> scores: array<array<vec4<f32>, SIDE * SCORE_PITCH>, SUBGROUPS>;
var<workgroup> weights: array<Strip, SUBGROUPS>;
var<workgroup> totals: array<f32, ROWS>;
var<workgroup> has_risen: array<u32, SUBGROUPS>;

// Four elements of a query, of which `four` counts those before it.
fn query_four(at: u32, four: u32) -> vec4<f16> {
  if (HEAD_DIM % 32u == 0u || four < HEAD_DIM / 4u) {
    return vec4<f16>(q[at] * SCALE);
  }
  return vec4<f16>();
}

// The words that a lane brings in of the keys (part 0) or values (1) of a block: of positions that
// some row sees.
var<private> next: array<CacheWord, OWN_WORDS>;

fn load_block(part: u32, block: u32, end: u32, slot: u32, lane: u32, kv_head: u32) {
  for (var i = 0u; i < OWN_WORDS; i++) {  // unroll
    let index = lane + i * THREADS;
    let cell = cell_of(slot, min(block + index / WIDE, end - 1u));
    let word = index % WIDE;
    next[i] = CacheWord();
    if (WIDE == WORDS || word < WORDS) {
      next[i] = cache[((cell * 2u + part) * KV_HEADS + kv_head) * WORDS + word];
    }
  }
}

fn store_block(lane: u32) {
  for (var i = 0u; i < OWN_WORDS; i++) {  // unroll
    let index = lane + i * THREADS;
    let key = index / WIDE;
    let column = index % WIDE * WORD;
    if (KEYS * WIDE % THREADS == 0u || key < KEYS) {
      store_word(key / SIDE * STRIPS + column / 32u, key % SIDE * PITCH + column % 32u / 4u, next[i]);
    }
  }
}

// The scores of the subgroup's rows by the keys that lie in `strips`, into `scores`.
fn multiply_keys(queries: ptr<function, array<Left, 2u * STRIPS>>, subgroup: u32) {
  var low = Result();
  var high = Result();
  for (var i = 0u; i < STRIPS; i++) {  // unroll
    low = subgroupMatrixMultiplyAccumulate(
        (*queries)[2u * i], subgroupMatrixLoad<Right, col_major>(&strips[i], 0u, PITCH), low);
    high = subgroupMatrixMultiplyAccumulate(
        (*queries)[2u * i], subgroupMatrixLoad<Right, col_major>(&strips[STRIPS + i], 0u, PITCH), high);
    if (2u * i + 1u < FRAGMENTS) {
      low = subgroupMatrixMultiplyAccumulate(
          (*queries)[2u * i + 1u], subgroupMatrixLoad<Right, col_major>(&strips[i], 4u, PITCH), low);
      high = subgroupMatrixMultiplyAccumulate(
          (*queries)[2u * i + 1u],
          subgroupMatrixLoad<Right, col_major>(&strips[STRIPS + i], 4u, PITCH), high);
    }
  }
  subgroupMatrixStore<row_major>(&scores[subgroup], 0u, low, SCORE_PITCH);
  subgroupMatrixStore<row_major>(&scores[subgroup], 4u, high, SCORE_PITCH);
}

// The subgroup's sums, each row times the factor of the lanes that have it.
fn scale_sums(sums: ptr<function, array<Result, 2u * STRIPS>>, factor: f32, lane: u32,
              subgroup: u32) {
  let row = lane / 2u;
  let at = row % SIDE * SCORE_PITCH + lane % 2u * 4u;
  for (var i = 0u; i < STRIPS; i++) {  // unroll
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&scores[subgroup], 0u, (*sums)[2u * i], SCORE_PITCH);
    subgroupMatrixStore<row_major>(&scores[subgroup], 4u, (*sums)[2u * i + 1u], SCORE_PITCH);
    workgroupBarrier();
    for (var k = 0u; k < 4u; k++) {  // unroll
      scores[row / SIDE][at + k] *= factor;
    }
    workgroupBarrier();
    (*sums)[2u * i] = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 0u, SCORE_PITCH);
    (*sums)[2u * i + 1u] =
        subgroupMatrixLoad<Result, row_major>(&scores[subgroup], 4u, SCORE_PITCH);
  }
}

// Four of the lane's scores in the block, LOWEST for keys that its row does not see.
fn shown(block: u32, k: u32, lane: u32, seen_first: u32, seen_end: u32) -> vec4<f32> {
  let row = lane / 2u;
  let column = lane % 2u * (KEYS / 8u) + k;  // in fours
  let four = scores[row / SIDE][row % SIDE * SCORE_PITCH + column];
  let key = vec4(block + 4u * column) + vec4(0u, 1u, 2u, 3u);
  let seen = (key >= vec4(seen_first)) & (key < vec4(seen_end));
  let capped = vec4(cap_score(four.x), cap_score(four.y), cap_score(four.z), cap_score(four.w));
  return select(vec4(LOWEST), capped, seen);
}

fn run(group: vec3<u32>, lane: u32, subgroup: u32) {
  let kv_head = group.x;
  let tile = tile_of(group.y, TOKENS);
  if (tile.first >= tile.end) {
    return;
  }
  // A row's keys are in the same blocks whatever the tile's other rows are.
  let first = seen_from(tile.slot, position_of(tile.first)) / KEYS * KEYS;
  let end = seen_until(tile.slot, position_of(tile.end - 1u));
  let position = position_of(token_of(lane / 2u, tile));
  let seen_first = seen_from(tile.slot, position);
  let seen_end = seen_until(tile.slot, position);

  load_block(0u, first, end, tile.slot, lane, kv_head);
  var queries: array<Left, 2u * STRIPS>;
  for (var i = 0u; i < STRIPS; i++) {  // unroll
    workgroupBarrier();
    for (var n = lane; n < 4u * ROWS; n += THREADS) {
      let four = i * 8u + n % 4u * 2u;
      let at = start_of(n / 4u, tile, kv_head) / 4u + four;
      let place = n / 4u % SIDE * PITCH + n % 4u * 2u;
      strips[n / 4u / SIDE][place] = query_four(at, four);
      strips[n / 4u / SIDE][place + 1u] = query_four(at + 1u, four + 1u);
    }
    workgroupBarrier();
    queries[2u * i] = subgroupMatrixLoad<Left, row_major>(&strips[subgroup], 0u, PITCH);
    queries[2u * i + 1u] = subgroupMatrixLoad<Left, row_major>(&strips[subgroup], 4u, PITCH);
  }

  var sums: array<Result, 2u * STRIPS>;
  var base = LOWEST;
  var total = 0.0;
  for (var block = first; block < end; block += KEYS) {
    workgroupBarrier();
    store_block(lane);
    workgroupBarrier();
    load_block(1u, block, end, tile.slot, lane, kv_head);
    multiply_keys(&queries, subgroup);
    workgroupBarrier();
    store_block(lane);
    var fours: array<vec4<f32>, 4>;
    var largest = LOWEST;
    for (var k = 0u; k < 4u; k++) {  // unroll
      fours[k] = shown(block, k, lane, seen_first, seen_end);
      largest = max(largest, max(max(fours[k].x, fours[k].y), max(fours[k].z, fours[k].w)));
    }
    largest = max(largest, subgroupShuffleXor(largest, 1u));
    let rises = largest > base + LEAD;
    let factor = select(1.0, exp(base - largest), rises);
    // Before its first key a row has no sums to scale.
    let has_any_risen = subgroupAny(rises && base > LOWEST);
    if (lane % LANES == 0u) {
      has_risen[subgroup] = u32(has_any_risen);
    }
    base = select(base, largest, rises);
    total *= factor;
    for (var k = 0u; k < 4u; k++) {  // unroll
      // In this order a score that is no number stays in sight.
      let weight = vec4<f16>(select(exp(fours[k] - base), vec4(0.0), fours[k] <= vec4(LOWEST)));
      weights[lane / 2u / SIDE][lane / 2u % SIDE * PITCH + lane % 2u * 4u + k] = weight;
      total += dot(vec4<f32>(weight), vec4(1.0));
    }
    let risen = workgroupUniformLoad(&has_risen);
    load_block(0u, block + KEYS, end, tile.slot, lane, kv_head);
    var is_any = 0u;
    for (var i = 0u; i < SUBGROUPS; i++) {  // unroll
      is_any |= risen[i];
    }
    if (is_any != 0u) {
      scale_sums(&sums, factor, lane, subgroup);
    }
    let near = subgroupMatrixLoad<Left, row_major>(&weights[subgroup], 0u, PITCH);
    let far = subgroupMatrixLoad<Left, row_major>(&weights[subgroup], 4u, PITCH);
    for (var i = 0u; i < STRIPS; i++) {  // unroll
      sums[2u * i] = subgroupMatrixMultiplyAccumulate(
          near, subgroupMatrixLoad<Right, row_major>(&strips[i], 0u, PITCH), sums[2u * i]);
      sums[2u * i] = subgroupMatrixMultiplyAccumulate(
          far, subgroupMatrixLoad<Right, row_major>(&strips[STRIPS + i], 0u, PITCH), sums[2u * i]);
      if (2u * i + 1u < FRAGMENTS) {
        sums[2u * i + 1u] = subgroupMatrixMultiplyAccumulate(
            near, subgroupMatrixLoad<Right, row_major>(&strips[i], 4u, PITCH), sums[2u * i + 1u]);
        sums[2u * i + 1u] = subgroupMatrixMultiplyAccumulate(
            far, subgroupMatrixLoad<Right, row_major>(&strips[STRIPS + i], 4u, PITCH),
            sums[2u * i + 1u]);
      }
    }
  }
  let sink = sink_weight(head_of(lane / 2u, kv_head), base);
  totals[lane / 2u] = total + subgroupShuffleXor(total, 1u) + sink;
  for (var i = 0u; i < STRIPS; i++) {  // unroll
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&scores[subgroup], 0u, sums[2u * i], SCORE_PITCH);
    subgroupMatrixStore<row_major>(&scores[subgroup], 4u, sums[2u * i + 1u], SCORE_PITCH);
    workgroupBarrier();
    for (var n = lane; n < 8u * ROWS; n += THREADS) {
      let row = n / 8u;
      let four = 8u * i + n % 8u;
      if (is_own(row, tile) && four < HEAD_DIM / 4u) {
        let all = scores[row / SIDE][row % SIDE * SCORE_PITCH + n % 8u] / totals[row];
        let pair = start_of(row, tile, kv_head) / 2u + 2u * four;
        store_pair(pair, all.xy);
        store_pair(pair + 1u, all.zw);
      }
    }
  }
}
