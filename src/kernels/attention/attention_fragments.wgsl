// The same as attention_matrix, where a lane may touch the elements of fragments that it has:
// scores become weights in registers, and what is added up so far is scaled there
// (FlashAttention-2, Dao 2023, https://arxiv.org/abs/2307.08691). WGSL has no way to say that; the
// functions subgroupMatrixRow, subgroupMatrixColumn and subgroupMatrixLeft, and the index of a
// result, are of the translator to CUDA. Contract: attention.h.
//
// A subgroup has PARTS times sixteen rows, so that a fragment of keys or values is loaded once for
// all of them. A lane has, of each sixteen, two rows, and shares them with three neighbours. Of
// heads that registers do not hold, SPLITS subgroups have the same rows, each of them FRAGMENTS
// times sixteen columns; they add up what their columns say of the scores.
//
// fragment_strips.wgsl has what the rows are and where their keys, values and results lie;
// latent/latent_strip.wgsl has the same of latents, which are keys and values at once.

const OWN_ROWS = PARTS * SIDE;
const LOG2_E = 1.4426950408889634;
const LEAD = 11.0;  // 2^11 is far below the largest f16

// A head in words of the cache, and as wide as its fragments: zeros follow the head's columns.
const COLUMNS = FRAGMENTS * SPLITS * SIDE;
const WORDS = HEAD_DIM / WORD;
const WIDE = COLUMNS / WORD;

// A row of a block, padded so that rows begin in different banks.
const PITCH = COLUMNS / 4u + 2u;

// The numbers of each subgroup's columns for the scores; one that has all columns needs none.
const SCORE_PITCH = KEYS / 4u + 1u;
var<workgroup> partials: array<array<vec4<f32>, OWN_ROWS * SCORE_PITCH>, PARTIALS>;

// The lane's n-th element (of four) in its upper (0) or lower (1) row of a fragment.
fn element(half: u32, n: u32) -> u32 {
  return n % 2u + n / 2u * 4u + 2u * half;
}

// Scores count in powers of two.
const QUERY_SCALE = select(SCALE, SCALE * LOG2_E, SOFTCAP == 0.0);

// The rows of a part, as the left side of a product.
fn load_queries(part: u32, column: u32, top: u32, tile: Tile, kv_head: u32) -> Left {
  var all = Result();
  for (var half = 0u; half < 2u; half++) {  // unroll
    let row = top + part * SIDE + subgroupMatrixRow(2u * half);
    for (var pair = 0u; pair < 2u; pair++) {  // unroll
      let i = element(half, 2u * pair);
      let own = column + subgroupMatrixColumn(i);
      if (COLUMNS == HEAD_DIM || own < HEAD_DIM) {
        let two = query_pair(row, own / 2u, tile, kv_head);
        all[i] = two.x;
        all[i + 1u] = two.y;
      }
    }
  }
  return subgroupMatrixLeft(all);
}

// Adds up the partial scores of the subgroups that have these rows, in the same order for all of them.
fn add_partials(scores: ptr<function, array<Result, PARTS * KEY_FRAGMENTS>>, subgroup: u32) {
  for (var part = 0u; part < PARTS; part++) {  // unroll
    for (var k = 0u; k < KEY_FRAGMENTS; k++) {  // unroll
      subgroupMatrixStore<row_major>(&partials[subgroup], part * SIDE * SCORE_PITCH + 4u * k,
                                     (*scores)[part * KEY_FRAGMENTS + k], SCORE_PITCH);
    }
  }
  workgroupBarrier();
  for (var part = 0u; part < PARTS; part++) {  // unroll
    for (var k = 0u; k < KEY_FRAGMENTS; k++) {  // unroll
      var sum = Result();
      for (var split = 0u; split < SPLITS; split++) {  // unroll
        let partial = subgroupMatrixLoad<Result, row_major>(
            &partials[subgroup / SPLITS * SPLITS + split], part * SIDE * SCORE_PITCH + 4u * k,
            SCORE_PITCH);
        for (var i = 0u; i < 8u; i++) {  // unroll
          sum[i] += partial[i];
        }
      }
      (*scores)[part * KEY_FRAGMENTS + k] = sum;
    }
  }
}

// Makes the scores of keys that a row does not see LOWEST.
fn hide_unseen(scores: ptr<function, array<Result, PARTS * KEY_FRAGMENTS>>, block: u32, end: u32,
               top: u32, tile: Tile) {
  for (var part = 0u; part < PARTS; part++) {  // unroll
    for (var half = 0u; half < 2u; half++) {  // unroll
      let position = position_of(token_of(top + part * SIDE + subgroupMatrixRow(2u * half), tile));
      let seen_first = seen_from(tile.slot, position);
      let seen_end = min(seen_until(tile.slot, position), end);
      for (var k = 0u; k < KEY_FRAGMENTS; k++) {  // unroll
        for (var n = 0u; n < 4u; n++) {  // unroll
          let i = element(half, n);
          let key = block + k * SIDE + subgroupMatrixColumn(i);
          if (key < seen_first || key >= seen_end) {
            (*scores)[part * KEY_FRAGMENTS + k][i] = LOWEST;
          }
        }
      }
    }
  }
}

fn run(group: vec3<u32>, lane: u32, subgroup: u32) {
  let kv_head = group.x;
  let tile = tile_of(group.y, TOKENS);
  let first_row = first_row_of(group.x);
  if (!is_own(first_row, tile)) {
    return;
  }
  // A row's keys are in the same blocks whatever the tile's other rows are.
  let all_keys = vec2(seen_from(tile.slot, position_of(tile.first)) / KEYS * KEYS,
                      seen_until(tile.slot, position_of(tile.end - 1u)));
  let keys = own_keys(group.x, all_keys);
  let first = keys.x;
  let end = keys.y;
  // The keys that some row of the subgroup sees, and those that all of them see.
  let top = first_row + subgroup / SPLITS * OWN_ROWS;
  let own_column = subgroup % SPLITS * FRAGMENTS * SIDE;
  let top_position = position_of(token_of(top, tile));
  let last_position = position_of(token_of(top + OWN_ROWS - 1u, tile));
  let any_first = seen_from(tile.slot, top_position);
  let any_end = select(0u, seen_until(tile.slot, last_position), is_own(top, tile));
  let all_first = seen_from(tile.slot, last_position);
  let all_end = min(seen_until(tile.slot, top_position), end);

  load_block(first, end, tile.slot, lane, kv_head);
  var queries: array<Left, PARTS * FRAGMENTS>;
  for (var part = 0u; part < PARTS; part++) {  // unroll
    for (var i = 0u; i < FRAGMENTS; i++) {  // unroll
      queries[part * FRAGMENTS + i] = load_queries(part, own_column + i * SIDE, top, tile, kv_head);
    }
  }
  var sums: array<Result, PARTS * FRAGMENTS>;
  var bases: array<f32, 2u * PARTS>;
  var totals: array<f32, 2u * PARTS>;
  for (var part = 0u; part < PARTS; part++) {  // unroll
    bases[2u * part] = LOWEST;
    bases[2u * part + 1u] = LOWEST;
  }
  for (var block = first; block < end; block += KEYS) {
    workgroupBarrier();
    store_block(lane);
    workgroupBarrier();
    if (block + KEYS < end) {
      load_block(block + KEYS, end, tile.slot, lane, kv_head);
    }
    // Subgroups that wait for each other all take all blocks.
    if (SPLITS == 1u && (block >= any_end || block + KEYS <= any_first)) {
      continue;
    }
    var scores: array<Result, PARTS * KEY_FRAGMENTS>;
    for (var i = 0u; i < FRAGMENTS; i++) {  // unroll
      for (var k = 0u; k < KEY_FRAGMENTS; k++) {  // unroll
        let keys = subgroupMatrixLoad<Right, col_major>(
            &strips[0], k * SIDE * PITCH + own_column / 4u + 4u * i, PITCH);
        for (var part = 0u; part < PARTS; part++) {  // unroll
          scores[part * KEY_FRAGMENTS + k] = subgroupMatrixMultiplyAccumulate(
              queries[part * FRAGMENTS + i], keys, scores[part * KEY_FRAGMENTS + k]);
        }
      }
    }
    if (SPLITS > 1u) {
      add_partials(&scores, subgroup);
    }
    if (SOFTCAP != 0.0) {
      for (var part = 0u; part < PARTS; part++) {  // unroll
        for (var k = 0u; k < KEY_FRAGMENTS; k++) {  // unroll
          for (var i = 0u; i < 8u; i++) {  // unroll
            let at = part * KEY_FRAGMENTS + k;
            scores[at][i] = LOG2_E * cap_score(scores[at][i]);
          }
        }
      }
    }
    if (block < all_first || block + KEYS > all_end) {
      hide_unseen(&scores, block, end, top, tile);
    }
    for (var part = 0u; part < PARTS; part++) {  // unroll
      for (var half = 0u; half < 2u; half++) {  // unroll
        let row = 2u * part + half;
        var largest = LOWEST;
        for (var k = 0u; k < KEY_FRAGMENTS; k++) {  // unroll
          for (var n = 0u; n < 4u; n++) {  // unroll
            largest = max(largest, scores[part * KEY_FRAGMENTS + k][element(half, n)]);
          }
        }
        largest = max(largest, subgroupShuffleXor(largest, 1u));
        largest = max(largest, subgroupShuffleXor(largest, 2u));
        let rises = largest > bases[row] + LEAD;
        if (subgroupAny(rises)) {
          let factor = select(1.0, exp2(bases[row] - largest), rises);
          bases[row] = select(bases[row], largest, rises);
          totals[row] *= factor;
          for (var i = 0u; i < FRAGMENTS; i++) {  // unroll
            for (var n = 0u; n < 4u; n++) {  // unroll
              sums[part * FRAGMENTS + i][element(half, n)] *= factor;
            }
          }
        }
        // Before its first key a row has no base; LOWEST weighs nothing beside 0 either.
        let base = select(bases[row], 0.0, bases[row] == LOWEST);
        for (var k = 0u; k < KEY_FRAGMENTS; k++) {  // unroll
          for (var n = 0u; n < 4u; n++) {  // unroll
            let i = element(half, n);
            let weight = exp2(scores[part * KEY_FRAGMENTS + k][i] - base);
            scores[part * KEY_FRAGMENTS + k][i] = weight;
            totals[row] += weight;
          }
        }
      }
    }
    for (var k = 0u; k < KEY_FRAGMENTS; k++) {  // unroll
      var weights: array<Left, PARTS>;
      for (var part = 0u; part < PARTS; part++) {  // unroll
        weights[part] = subgroupMatrixLeft(scores[part * KEY_FRAGMENTS + k]);
      }
      for (var i = 0u; i < FRAGMENTS; i++) {  // unroll
        let values = subgroupMatrixLoad<Right, row_major>(
            &strips[VALUES], k * SIDE * PITCH + own_column / 4u + 4u * i, PITCH);
        for (var part = 0u; part < PARTS; part++) {  // unroll
          sums[part * FRAGMENTS + i] =
              subgroupMatrixMultiplyAccumulate(weights[part], values, sums[part * FRAGMENTS + i]);
        }
      }
    }
  }

  for (var part = 0u; part < PARTS; part++) {  // unroll
    for (var half = 0u; half < 2u; half++) {  // unroll
      let row = top + part * SIDE + subgroupMatrixRow(2u * half);
      var total = totals[2u * part + half];
      total += subgroupShuffleXor(total, 1u);
      total += subgroupShuffleXor(total, 2u);
      total += further_weight(row, kv_head, bases[2u * part + half]);
      if (is_own(row, tile) && own_column == 0u && subgroupMatrixColumn(0u) == 0u) {
        store_base(row, tile, kv_head, bases[2u * part + half] / LOG2_E, total);
      }
      for (var i = 0u; i < FRAGMENTS; i++) {  // unroll
        for (var pair = 0u; pair < 2u; pair++) {  // unroll
          let n = element(half, 2u * pair);
          let column = own_column + i * SIDE + subgroupMatrixColumn(n);
          if (is_own(row, tile) && column < RESULT_COLUMNS) {
            let two = vec2(sums[part * FRAGMENTS + i][n], sums[part * FRAGMENTS + i][n + 1u]);
            store_two(row, column / 2u, tile, kv_head, two, total);
          }
        }
      }
    }
  }
}
