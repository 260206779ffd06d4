// The rule of rule.wgsl for a chunk of tokens at a time, by matrix units of which a lane may touch the elements that it
// has (see attention_fragments.wgsl). Within a chunk S is the state before it, b the sum of the log decays up to a token,
// and D the changes d of its tokens, row by row:
//   (I + A) D = step (V - exp(b) K S)     A_ij = step_i exp(b_i - b_j) k_i k_j for j < i, else 0
//   Y = exp(b) Q S + P D                  P_ij = exp(b_i - b_j) q_i k_j for j <= i, else 0
//   S' = exp(b_last) S + sum_j exp(b_last - b_j) k_j d_j^T
// (Yang et al. 2024, arXiv:2412.06464, section 3.3). Where the rule corrects nothing, A is 0.
//
// grid.x are blocks of columns, grid.y the heads, grid.z the slots. WORKERS subgroups have sixteen columns of the state
// each, transposed, in registers: rows of their fragments are columns of S, V, D and Y. HELPERS subgroups prepare the next
// chunk meanwhile: its keys and queries as unit vectors in f16, A and P. Of A the blocks of sixteen tokens on the diagonal
// are inverted as I + A; the others are negative, so that a product adds them.

const SIDE = 16u;
const CHUNK = SIDE * BLOCKS;
const LOG2_E = 1.4426950408889634;
const MEASURED = 8u;  // chunks from one look at the state to the next
// The blocks on and below the diagonal of A and P: (0, 0), (1, 0) and (1, 1).
const TRIANGLE = BLOCKS * (BLOCKS + 1u) / 2u;
const_assert BLOCKS <= 2u;

// Rows are padded so that they begin in different banks.
const PITCH = 4u * FRAGMENTS + 2u;
const PAIR_PITCH = CHUNK / 2u + 4u;

alias Left = subgroup_matrix_left<f16, SIDE, SIDE>;
alias Right = subgroup_matrix_right<f16, SIDE, SIDE>;
alias Result = subgroup_matrix_result<f32, SIDE, SIDE>;

// Keys and queries are read four elements at a time, values one by one: the same buffer, as the translator allows.
@group(0) @binding(INPUT_0) var<storage, read> vectors: array<vec4<f32>>;
@group(0) @binding(INPUT_0) var<storage, read> elements: array<f32>;

// Two chunks by turns.
var<workgroup> keys: array<array<vec4<f16>, CHUNK * PITCH>, 2>;
var<workgroup> queries: array<array<vec4<f16>, CHUNK * PITCH>, 2>;
var<workgroup> corrections: array<array<vec2<f16>, CHUNK * PAIR_PITCH>, 2>;  // of A
var<workgroup> weights: array<array<vec2<f16>, CHUNK * PAIR_PITCH>, 2>;      // P
// b of each token in powers of two, its step, and the lengths of its key and query as the rule has them. A chunk's are
// there one phase before its keys.
var<workgroup> steps: array<array<vec4<f32>, CHUNK>, 3>;
// The blocks of A on the diagonal, transposed.
var<workgroup> diagonals: array<array<vec4<f32>, SIDE * SIDE / 4u>, BLOCKS>;

// The values of its next chunk that a lane of a worker has, in the order of its fragments.
var<private> next_values: array<f32, 8u * BLOCKS>;

fn fetch_values(first: u32, count: u32, head: u32, own_column: u32) {
  for (var b = 0u; b < BLOCKS; b++) {  // unroll
    for (var i = 0u; i < 8u; i++) {  // unroll
      let column = own_column + subgroupMatrixRow(i);
      let token = b * SIDE + subgroupMatrixColumn(i);
      let value = elements[value_start(first + min(token, count - 1u), head) + min(column, DV - 1u)];
      next_values[8u * b + i] = select(0.0, value, token < count && column < DV);
    }
  }
}

// The parts of the next keys and queries that a lane of a helper brings in.
var<private> next_keys: array<vec4<f32>, OWN_ROWS * QUADS>;
var<private> next_queries: array<vec4<f32>, OWN_ROWS * QUADS>;

fn fetch(first: u32, count: u32, head: u32, helper: u32, lane: u32) {
  for (var i = 0u; i < OWN_ROWS; i++) {  // unroll
    let row = helper * OWN_ROWS + i;
    let token = first + min(row, count - 1u);
    for (var n = 0u; n < QUADS; n++) {  // unroll
      let quad = lane + 32u * n;
      let own = min(quad, DK / 4u - 1u);
      let is_there = row < count && quad < DK / 4u;
      next_keys[i * QUADS + n] = select(vec4<f32>(), vectors[key_start(token, head) / 4u + own], is_there);
      next_queries[i * QUADS + n] = select(vec4<f32>(), vectors[query_start(token, head) / 4u + own], is_there);
    }
  }
}

// Stores what fetch() brought in, as unit vectors.
fn stage(chunk: u32, helper: u32, lane: u32) {
  // A sum of lanes takes several turns, each of which waits for the one before: all rows take them together.
  var squares: array<vec2<f32>, OWN_ROWS>;
  for (var i = 0u; i < OWN_ROWS; i++) {  // unroll
    for (var n = 0u; n < QUADS; n++) {  // unroll
      let key = next_keys[i * QUADS + n];
      let query = next_queries[i * QUADS + n];
      squares[i] += vec2(dot(key, key), dot(query, query));
    }
  }
  for (var turn = 0u; turn < 5u; turn++) {  // unroll
    for (var i = 0u; i < OWN_ROWS; i++) {  // unroll
      squares[i] += vec2(subgroupShuffleXor(squares[i].x, 1u << turn), subgroupShuffleXor(squares[i].y, 1u << turn));
    }
  }
  for (var i = 0u; i < OWN_ROWS; i++) {  // unroll
    let row = helper * OWN_ROWS + i;
    let key_unit = inverseSqrt(squares[i].x + 1e-6);
    let query_unit = inverseSqrt(squares[i].y + 1e-6);
    for (var n = 0u; n < QUADS; n++) {  // unroll
      let quad = lane + 32u * n;
      if (quad < 4u * FRAGMENTS) {
        keys[chunk % 2u][row * PITCH + quad] = vec4<f16>(next_keys[i * QUADS + n] * key_unit);
        queries[chunk % 2u][row * PITCH + quad] = vec4<f16>(next_queries[i * QUADS + n] * query_unit);
      }
    }
    if (lane == 0u) {
      steps[chunk % 3u][row].z = key_scale(squares[i].x) * ((squares[i].x + 1e-6) * key_unit);
      steps[chunk % 3u][row].w = query_scale(squares[i].y) * ((squares[i].y + 1e-6) * query_unit);
    }
  }
}

// Tokens that are not there neither decay nor change anything.
fn stage_steps(chunk: u32, first: u32, count: u32, head: u32, lane: u32) {
  let rule = rule_of(first + min(lane, count - 1u), head);
  var sum = select(0.0, rule.log_decay * LOG2_E, lane < count);
  var total = sum;
  for (var d = 1u; d < 32u; d *= 2u) {
    let other = subgroupShuffleXor(total, d);
    sum += select(0.0, other, (lane & d) != 0u);
    total += other;
  }
  if (lane < CHUNK) {
    steps[chunk % 3u][lane].x = sum;
    steps[chunk % 3u][lane].y = select(0.0, rule.step, lane < count);
  }
}

// Sixteen rows of P and of A, by sixteen columns on or below the diagonal.
fn prepare(chunk: u32, row_block: u32, column_block: u32) {
  var by_key = Result();
  var by_query = Result();
  for (var k = 0u; k < FRAGMENTS; k++) {  // unroll, at most 16
    let right =
        subgroupMatrixLoad<Right, col_major>(&keys[chunk % 2u], column_block * SIDE * PITCH + 4u * k, PITCH);
    let query = subgroupMatrixLoad<Left, row_major>(&queries[chunk % 2u], row_block * SIDE * PITCH + 4u * k, PITCH);
    by_query = subgroupMatrixMultiplyAccumulate(query, right, by_query);
    if (CORRECTS == 1u) {
      let key = subgroupMatrixLoad<Left, row_major>(&keys[chunk % 2u], row_block * SIDE * PITCH + 4u * k, PITCH);
      by_key = subgroupMatrixMultiplyAccumulate(key, right, by_key);
    }
  }
  let is_diagonal = row_block == column_block;
  for (var i = 0u; i < 8u; i++) {  // unroll
    let row = row_block * SIDE + subgroupMatrixRow(i);
    let column = column_block * SIDE + subgroupMatrixColumn(i);
    let of_row = steps[chunk % 3u][row];
    let of_column = steps[chunk % 3u][column];
    by_query[i] = select(0.0, by_query[i] * exp2(min(of_row.x - of_column.x, 0.0)), column <= row);
    // A block of A on the diagonal is transposed: what is below it is above it then.
    let before = select(column, row, is_diagonal);
    let after = select(row, column, is_diagonal);
    let decay = exp2(-abs(of_row.x - of_column.x));
    by_key[i] = select(0.0, by_key[i] * decay * select(of_row.y, of_column.y, is_diagonal), before < after);
  }
  let first = row_block * SIDE * PAIR_PITCH + column_block * SIDE / 2u;
  for (var pair = 0u; pair < 4u; pair++) {  // unroll
    let i = 2u * pair;
    let at = first + subgroupMatrixRow(i) * PAIR_PITCH + subgroupMatrixColumn(i) / 2u;
    weights[chunk % 2u][at] = vec2<f16>(vec2(by_query[i], by_query[i + 1u]));
    if (CORRECTS == 1u && !is_diagonal) {
      corrections[chunk % 2u][at] = vec2<f16>(vec2(-by_key[i], -by_key[i + 1u]));
    }
  }
  if (CORRECTS == 1u && is_diagonal) {
    subgroupMatrixStore<row_major>(&diagonals[row_block], 0u, by_key, SIDE / 4u);
  }
}

// Inverts the blocks on the diagonal, with ones there, a lane one column of one of them: each row that is done is taken
// from those below.
fn invert(chunk: u32, lane: u32) {
  let block = lane / SIDE;
  let column = lane % SIDE;
  if (block >= BLOCKS) {
    return;
  }
  var columns: array<vec4<f32>, 4>;
  for (var a = 0u; a < 4u; a++) {  // unroll
    for (var b = 0u; b < 4u; b++) {  // unroll
      columns[a][b] = select(0.0, 1.0, 4u * a + b == column);
    }
  }
  for (var a = 0u; a < 4u; a++) {  // unroll
    for (var b = 0u; b < 4u; b++) {  // unroll
      let row = 4u * a + b;
      let value = columns[a][b];
      for (var i = 0u; i < 4u; i++) {  // unroll
        if (i >= a) {
          columns[i] -= diagonals[block][4u * row + i] * value;
        }
      }
      let at = (block * SIDE + row) * PAIR_PITCH + (block * SIDE + column) / 2u;
      corrections[chunk % 2u][at][column % 2u] = f16(value);
    }
  }
}

// A sequence's rows of the step, and the head.
struct Rows {
  start: u32,
  count: u32,
  head: u32,
}

fn tokens_of(rows: Rows, chunk: u32) -> u32 {
  return min(rows.count - chunk * CHUNK, CHUNK);
}

// The loops of helpers and of workers have the same barriers, two for each chunk: it is prepared while the one before it
// is worked on.
fn help(rows: Rows, helper: u32, lane: u32) {
  let chunks = (rows.count + CHUNK - 1u) / CHUNK;
  fetch(rows.start, tokens_of(rows, 0u), rows.head, helper, lane);
  if (helper == HELPERS - 1u) {
    stage_steps(0u, rows.start, tokens_of(rows, 0u), rows.head, lane);
  }
  for (var chunk = 0u; chunk <= chunks; chunk++) {
    if (chunk < chunks) {
      stage(chunk, helper, lane);
    }
    if (CORRECTS == 1u && helper == HELPERS - 1u && chunk > 0u) {
      invert(chunk - 1u, lane);
    }
    if (chunk + 1u < chunks) {
      fetch(rows.start + (chunk + 1u) * CHUNK, tokens_of(rows, chunk + 1u), rows.head, helper, lane);
    }
    workgroupBarrier();
    if (helper < TRIANGLE && chunk < chunks) {
      prepare(chunk, min(helper, 1u), helper / 2u);
    }
    if (helper == HELPERS - 1u && chunk + 1u < chunks) {
      stage_steps(chunk + 1u, rows.start + (chunk + 1u) * CHUNK, tokens_of(rows, chunk + 1u), rows.head, lane);
    }
    workgroupBarrier();
  }
}

// The power of two that brings `largest` to 2^13 .. 2^14. What a chunk makes of the state's columns and of values is at
// most twice that: a step by a unit vector makes no column longer than it was and its value is large.
fn fitting_unit(largest: f32) -> f32 {
  return 0.5 * fitting_scale(bitcast<u32>(clamp(largest, 1e-20, 1e20)));
}

fn work(rows: Rows, slot: u32, own_column: u32) {
  let head = rows.head;
  let chunks = (rows.count + CHUNK - 1u) / CHUNK;
  let state_start = (batch.slot[slot].index * HEADS + head) * DK * DV;
  // The columns of the state, times `unit`.
  var s: array<Result, FRAGMENTS>;
  var unit = 1.0;
  // The longest that a column may be: measured in every MEASURED-th chunk, in between with all that values may add.
  var of_state = 0.0;
  fetch_values(rows.start, tokens_of(rows, 0u), head, own_column);
  for (var k = 0u; k < FRAGMENTS; k++) {  // unroll, at most 16
    for (var i = 0u; i < 8u; i++) {  // unroll
      let column = own_column + subgroupMatrixRow(i);
      let row = k * SIDE + subgroupMatrixColumn(i);
      if (batch.slot[slot].position != 0u && column < DV && row < DK) {
        s[k][i] = state[state_start + row * DV + column];
      }
    }
  }
  workgroupBarrier();
  workgroupBarrier();

  for (var chunk = 0u; chunk < chunks; chunk++) {
    let first = rows.start + chunk * CHUNK;
    let count = tokens_of(rows, chunk);
    var values: array<Result, BLOCKS>;
    var changes: array<Result, BLOCKS>;
    var sums: array<Result, BLOCKS>;
    if (chunk % MEASURED == 0u) {
      var largest = vec4<f32>();
      for (var k = 0u; k < FRAGMENTS; k++) {  // unroll, at most 16
        for (var i = 0u; i < 2u; i++) {  // unroll
          largest = max(largest, abs(vec4(s[k][4u * i], s[k][4u * i + 1u], s[k][4u * i + 2u], s[k][4u * i + 3u])));
        }
      }
      let own = max(max(largest.x, largest.y), max(largest.z, largest.w));
      of_state = KEY_BOUND * inverse(unit) * subgroupMax(own);
    }
    var of_values = 0.0;
    for (var b = 0u; b < BLOCKS; b++) {  // unroll
      for (var i = 0u; i < 8u; i++) {  // unroll
        let by = steps[chunk % 3u][b * SIDE + subgroupMatrixColumn(i)];
        values[b][i] = next_values[8u * b + i];
        of_values = max(of_values, abs(values[b][i] * by.y) * max(by.z, 1.0));
      }
    }
    if (chunk + 1u < chunks) {
      fetch_values(first + CHUNK, tokens_of(rows, chunk + 1u), head, own_column);
    }
    of_values = f32(CHUNK) * subgroupMax(of_values);
    let fitting = fitting_unit(max(of_state, of_values));
    of_state += of_values;
    if (fitting != unit) {
      for (var k = 0u; k < FRAGMENTS; k++) {  // unroll, at most 16
        for (var i = 0u; i < 8u; i++) {  // unroll
          s[k][i] *= fitting * inverse(unit);
        }
      }
      unit = fitting;
    }
    for (var k = 0u; k < FRAGMENTS; k++) {  // unroll, at most 16
      let left = subgroupMatrixLeft(s[k]);
      for (var b = 0u; b < BLOCKS; b++) {  // unroll
        let query = subgroupMatrixLoad<Right, col_major>(&queries[chunk % 2u], b * SIDE * PITCH + 4u * k, PITCH);
        sums[b] = subgroupMatrixMultiplyAccumulate(left, query, sums[b]);
        if (CORRECTS == 1u) {
          let key = subgroupMatrixLoad<Right, col_major>(&keys[chunk % 2u], b * SIDE * PITCH + 4u * k, PITCH);
          changes[b] = subgroupMatrixMultiplyAccumulate(left, key, changes[b]);
        }
      }
    }
    for (var b = 0u; b < BLOCKS; b++) {  // unroll
      for (var i = 0u; i < 8u; i++) {  // unroll
        let by = steps[chunk % 3u][b * SIDE + subgroupMatrixColumn(i)];
        let decay = exp2(by.x);
        sums[b][i] *= decay;
        changes[b][i] = by.y * (values[b][i] * unit - decay * changes[b][i]);
      }
    }
    workgroupBarrier();

    let last = steps[chunk % 3u][CHUNK - 1u].x;
    var lefts: array<Left, BLOCKS>;    // D
    var decayed: array<Left, BLOCKS>;  // until the end of the chunk
    for (var b = 0u; b < BLOCKS; b++) {  // unroll
      if (CORRECTS == 1u) {
        for (var a = 0u; a < BLOCKS; a++) {  // unroll
          if (a < b) {
            let block = subgroupMatrixLoad<Right, col_major>(
                &corrections[chunk % 2u], b * SIDE * PAIR_PITCH + a * SIDE / 2u, PAIR_PITCH);
            changes[b] = subgroupMatrixMultiplyAccumulate(lefts[a], block, changes[b]);
          }
        }
        let inverse = subgroupMatrixLoad<Right, col_major>(
            &corrections[chunk % 2u], b * SIDE * PAIR_PITCH + b * SIDE / 2u, PAIR_PITCH);
        changes[b] = subgroupMatrixMultiplyAccumulate(subgroupMatrixLeft(changes[b]), inverse, Result());
      }
      for (var i = 0u; i < 8u; i++) {  // unroll
        changes[b][i] *= steps[chunk % 3u][b * SIDE + subgroupMatrixColumn(i)].z;
      }
      lefts[b] = subgroupMatrixLeft(changes[b]);
      for (var i = 0u; i < 8u; i++) {  // unroll
        changes[b][i] *= exp2(last - steps[chunk % 3u][b * SIDE + subgroupMatrixColumn(i)].x);
      }
      decayed[b] = subgroupMatrixLeft(changes[b]);
    }
    let left_over = exp2(last);
    for (var k = 0u; k < FRAGMENTS; k++) {  // unroll, at most 16
      for (var i = 0u; i < 8u; i++) {  // unroll
        s[k][i] *= left_over;
      }
      for (var b = 0u; b < BLOCKS; b++) {  // unroll
        let key = subgroupMatrixLoad<Right, row_major>(&keys[chunk % 2u], b * SIDE * PITCH + 4u * k, PITCH);
        s[k] = subgroupMatrixMultiplyAccumulate(decayed[b], key, s[k]);
      }
    }
    let skip = skip_of(head);
    let from_unit = inverse(unit);
    for (var b = 0u; b < BLOCKS; b++) {  // unroll
      for (var a = 0u; a < BLOCKS; a++) {  // unroll
        if (a <= b) {
          let block = subgroupMatrixLoad<Right, col_major>(
              &weights[chunk % 2u], b * SIDE * PAIR_PITCH + a * SIDE / 2u, PAIR_PITCH);
          sums[b] = subgroupMatrixMultiplyAccumulate(lefts[a], block, sums[b]);
        }
      }
      for (var i = 0u; i < 8u; i++) {  // unroll
        let token = b * SIDE + subgroupMatrixColumn(i);
        let column = own_column + subgroupMatrixRow(i);
        var sum = sums[b][i] * (steps[chunk % 3u][token].w * from_unit);
        if (SKIPS == 1u) {
          sum += skip * values[b][i];
        }
        if (token < count && column < DV) {
          y[(first + token) * HEADS * DV + head * DV + column] = sum;
        }
      }
    }
    workgroupBarrier();
  }

  for (var k = 0u; k < FRAGMENTS; k++) {  // unroll, at most 16
    for (var i = 0u; i < 8u; i++) {  // unroll
      let column = own_column + subgroupMatrixRow(i);
      let row = k * SIDE + subgroupMatrixColumn(i);
      if (column < DV && row < DK) {
        state[state_start + row * DV + column] = s[k][i] * inverse(unit);
      }
    }
  }
}

fn run(group: vec3<u32>, lane: u32, subgroup: u32) {
  let rows = Rows(batch.slot[group.z].start, batch.slot[group.z].count, group.y);
  if (rows.count == 0u) {
    return;
  }
  if (subgroup < WORKERS) {
    work(rows, group.z, (group.x * WORKERS + subgroup) * SIDE);
  } else {
    help(rows, subgroup - WORKERS, lane % 32u);
  }
}
