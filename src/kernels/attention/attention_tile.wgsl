// A tile of queries that share a key head per workgroup: all query heads of that key head, of
// TOKENS tokens, are its rows. Keys come in blocks; a lane scores four rows by two keys, and sums
// the same four rows of every sixteenth pair of elements of the values. Contract: attention.h.
@group(0) @binding(INPUT_0) var<storage, read> q: array<vec2<f32>>;

const GROUP = HEADS / KV_HEADS;
const PAIRS = HEAD_DIM / 2u;
const KEYS = 32u;
const QUADS = 8u;   // of rows
const PARTS = 16u;  // lanes that share four rows
const CHUNK = 16u;  // pairs of elements that are multiplied at a time
const OWN_PAIRS = (PAIRS + PARTS - 1u) / PARTS;
const LOWEST = -3.0e38;

// [element][rows], [element][keys] and [key][rows].
var<workgroup> q_tile: array<vec4<f32>, 2u * CHUNK * QUADS>;
var<workgroup> k_tile: array<vec2<f32>, 2u * CHUNK * PARTS>;
var<workgroup> weights: array<vec4<f32>, KEYS * QUADS>;
var<workgroup> partial: array<vec4<f32>, PARTS * QUADS>;
var<workgroup> key_heads: array<CachedHead, KEYS>;
var<workgroup> value_heads: array<CachedHead, KEYS>;

fn cap_scores(scores: vec4<f32>) -> vec4<f32> {
  return vec4(cap_score(scores.x), cap_score(scores.y), cap_score(scores.z), cap_score(scores.w));
}

fn run(group: vec3<u32>, lane: u32) {
  let kv_head = group.x;
  let tile = tile_of(group.y, TOKENS);
  if (tile.first >= tile.end) {
    return;
  }
  let quad = lane / PARTS;
  let part = lane % PARTS;
  // The places of the four rows in q and y, their heads and positions, and the keys that they see.
  var starts: array<u32, 4>;
  var heads: vec4<u32>;
  var positions: vec4<u32>;
  var from_positions: vec4<u32>;
  var until_positions: vec4<u32>;
  for (var i = 0u; i < 4u; i++) {
    let row = quad * 4u + i;
    let token = min(tile.first + row / GROUP, tile.end - 1u);
    heads[i] = kv_head * GROUP + row % GROUP;
    positions[i] = position_of(token);
    starts[i] = (token * HEADS + heads[i]) * PAIRS;
    from_positions[i] = seen_from(tile.slot, positions[i]);
    until_positions[i] = seen_until(tile.slot, positions[i]);
  }
  // A row's keys are in the same blocks whatever the tile's other rows are.
  let first = seen_from(tile.slot, position_of(tile.first)) / KEYS * KEYS;
  let end = seen_until(tile.slot, position_of(tile.end - 1u));

  var sums: array<array<vec4<f32>, 2>, OWN_PAIRS>;
  var largest = vec4(first_base(heads.x), first_base(heads.y), first_base(heads.z), first_base(heads.w));
  // The lanes of four rows add up their totals: one has the sinks, if any.
  var total = vec4(select(0.0, FIRST_TOTAL, part == 0u));
  for (var block = first; block < end; block += KEYS) {
    if (lane < KEYS) {
      let position = min(block + lane, end - 1u);
      let cell = cell_of(tile.slot, position);
      key_heads[lane] = cached_head(cell, 0u, kv_head);
      value_heads[lane] = cached_head(cell, 1u, kv_head);
    }
    workgroupBarrier();

    var scores = array<vec4<f32>, 2>();
    for (var chunk = 0u; chunk < rounds(PAIRS); chunk += CHUNK) {
      // Each lane brings in one pair of elements of four rows and of four keys.
      let pair = chunk + part;
      var rows = array<vec2<f32>, 4>();
      var keys = array<vec2<f32>, 4>();
      if (pair < PAIRS) {
        for (var i = 0u; i < 4u; i++) {
          rows[i] = q[starts[i] + pair] * SCALE;
          keys[i] = cached_pair(key_heads[quad * 4u + i], pair);
        }
      }
      for (var e = 0u; e < 2u; e++) {
        q_tile[(2u * part + e) * QUADS + quad] =
            vec4(rows[0][e], rows[1][e], rows[2][e], rows[3][e]);
        let at = (2u * part + e) * PARTS + 2u * quad;
        k_tile[at] = vec2(keys[0][e], keys[1][e]);
        k_tile[at + 1u] = vec2(keys[2][e], keys[3][e]);
      }
      workgroupBarrier();
      for (var e = 0u; e < 2u * CHUNK; e++) {
        let four = q_tile[e * QUADS + quad];
        let two = k_tile[e * PARTS + part];
        scores[0] += four * two.x;
        scores[1] += four * two.y;
      }
      workgroupBarrier();
    }

    var seen = array<vec4<bool>, 2>();
    for (var i = 0u; i < 2u; i++) {
      let key = block + 2u * part + i;
      seen[i] = (vec4(key) >= from_positions) & (vec4(key) < until_positions);
      let score = cap_scores(scores[i]) + biases_of(heads, positions, key);
      scores[i] = select(vec4(LOWEST), score, seen[i]);
    }
    partial[part * QUADS + quad] = max(scores[0], scores[1]);
    workgroupBarrier();
    var now_largest = largest;
    for (var i = 0u; i < rounds(PARTS); i++) {
      now_largest = max(now_largest, partial[i * QUADS + quad]);
    }
    let shrink = exp(largest - now_largest);
    largest = now_largest;
    total *= shrink;
    for (var i = 0u; i < 2u; i++) {
      let weight = select(vec4(0.0), exp(scores[i] - largest), seen[i]);
      weights[(2u * part + i) * QUADS + quad] = weight;
      total += weight;
    }
    for (var i = 0u; i < OWN_PAIRS; i++) {
      sums[i][0] *= shrink;
      sums[i][1] *= shrink;
    }
    workgroupBarrier();
    let count = min(KEYS, end - block);
    for (var j = 0u; j < count; j++) {
      let weight = weights[j * QUADS + quad];
      let head = value_heads[j];
      for (var i = 0u; i < OWN_PAIRS; i++) {
        if (part + i * PARTS < PAIRS) {
          let value = cached_pair(head, part + i * PARTS);
          sums[i][0] += weight * value.x;
          sums[i][1] += weight * value.y;
        }
      }
    }
    workgroupBarrier();
  }
  partial[part * QUADS + quad] = total;
  workgroupBarrier();
  total = vec4(0.0);
  for (var i = 0u; i < rounds(PARTS); i++) {
    total += partial[i * QUADS + quad];
  }
  for (var i = 0u; i < 4u; i++) {
    let row = quad * 4u + i;
    if (row < TOKENS * GROUP && tile.first + row / GROUP < tile.end) {
      for (var own = 0u; own < OWN_PAIRS; own++) {
        let pair = part + own * PARTS;
        if (pair < PAIRS) {
          store_pair(starts[i] + pair, vec2(sums[own][0][i], sums[own][1][i]) / total[i]);
        }
      }
    }
  }
}

