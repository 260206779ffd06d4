// A product for up to four tokens by dot products of bytes: every weight is read and unpacked once for
// all of them. A lane group of LANES lanes takes BLOCK rows, a lane a unit of each at a time. All lane groups
// share x, of which staging/eights.wgsl keeps CHUNK_UNITS units of each token; where these are all, the
// workgroup goes on with its next rows, REPEATS times. Of split_linear a workgroup has the IN columns
// of one part; a row has COLUMNS of them. Contract: linear.h
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

const UNITS = IN / UNIT;  // of a part
const CHUNK_UNITS = ROUNDS * LANES;
const CHUNKS = (UNITS + CHUNK_UNITS - 1u) / CHUNK_UNITS;
const ITERATIONS = CHUNKS * ROUNDS;  // of a lane group's rows
const ROWS_AT_ONCE = THREADS / LANES * BLOCK;
const STRIDE = CHUNK_UNITS + 1u;
const STAGED_EIGHTS = TOKENS * EIGHTS * STRIDE;
const STAGED_UNITS = TOKENS * CHUNK_UNITS;
const TOKEN_EIGHTS = CHUNK_UNITS * EIGHTS;
const_assert CHUNKS == 1u || REPEATS == 1u;

// The units of this lane's rows that come next, on their way, and those at hand.
var<private> loaded: array<Unit, BLOCK>;
var<private> units: array<Unit, BLOCK>;

fn load_units(first: u32, part: u32, iteration: u32, lane: u32) {
  let row = first + iteration / ITERATIONS * ROWS_AT_ONCE + lane / LANES * BLOCK;
  let unit = min(iteration % ITERATIONS * LANES + lane % LANES, UNITS - 1u);
  for (var r = 0u; r < BLOCK; r++) {  // unroll
    loaded[r] = load_unit(min(row + r, ROWS - 1u) * (COLUMNS / UNIT) + part * UNITS + unit);
  }
}

// The same as in matvec.wgsl.
fn await_inputs() {}

// Zeros after the last column, so that the units there do not count. Rows after the last token are
// nobody's.
fn stage(part: u32, chunk: u32, lane: u32) {
  var taken: array<array<vec4<f32>, 2>, EACH>;
  for (var i = 0u; i < EACH; i++) {  // unroll
    let eight = i * THREADS + lane;
    let token = eight / TOKEN_EIGHTS;
    let own_eight = chunk * TOKEN_EIGHTS + eight % TOKEN_EIGHTS;
    if (token < step_rows() && own_eight < IN / 8u) {
      let at = (token * COLUMNS + part * IN) / 4u + 2u * own_eight;
      taken[i] = array(x[at], x[at + 1u]);
    }
  }
  for (var i = 0u; i < EACH; i++) {  // unroll
    if (i * THREADS / TOKEN_EIGHTS < step_rows()) {
      let eight = i * THREADS + lane;
      let token = eight / TOKEN_EIGHTS;
      let unit = eight % TOKEN_EIGHTS / EIGHTS;
      stage_eight(taken[i], (token * EIGHTS + eight % EIGHTS) * STRIDE + unit,
                  token * CHUNK_UNITS + unit, eight % EIGHTS == 0u, token < TOKENS);
    }
  }
}

fn take_unit(token: u32, round: u32, lane: u32) {
  let unit = round * LANES + lane % LANES;
  for (var e = 0u; e < EIGHTS; e++) {  // unroll
    own[e] = staged[(token * EIGHTS + e) * STRIDE + unit];
  }
  own_step = unit_steps[token * CHUNK_UNITS + unit];
}

fn run(group: vec3<u32>, lane: u32) {
  let first = group.x * (REPEATS * ROWS_AT_ONCE);
  let part = group.z;
  load_units(first, part, 0u, lane);
  await_inputs();
  var sums: array<array<f32, BLOCK>, TOKENS>;
  for (var iteration = 0u; iteration < REPEATS * ITERATIONS; iteration++) {
    let round = iteration % ROUNDS;
    if (round == 0u && (CHUNKS > 1u || iteration == 0u)) {
      if (iteration > 0u) {
        workgroupBarrier();
      }
      stage(part, iteration / ROUNDS, lane);
      workgroupBarrier();
    }
    units = loaded;
    if (iteration + 1u < REPEATS * ITERATIONS) {
      load_units(first, part, iteration + 1u, lane);
    }
    for (var t = 0u; t < TOKENS; t++) {  // unroll
      if (t < step_rows()) {
        take_unit(t, round, lane);
        for (var r = 0u; r < BLOCK; r++) {  // unroll
          sums[t][r] += unit_product(units[r]);
        }
      }
    }
    if (iteration % ITERATIONS == ITERATIONS - 1u) {
      for (var t = 0u; t < TOKENS; t++) {  // unroll
        if (t < step_rows()) {
          reduce_rows(t * ROWS_AT_ONCE + lane / LANES * BLOCK, sums[t], lane);
        }
      }
      sums = array<array<f32, BLOCK>, TOKENS>();
      workgroupBarrier();
      finish(first + iteration / ITERATIONS * ROWS_AT_ONCE, part * PART_ROWS + FIRST_ROW, lane);
      if (REPEATS > 1u) {
        workgroupBarrier();
      }
    }
  }
}
