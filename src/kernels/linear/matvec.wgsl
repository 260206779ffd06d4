// GROUP_ROWS rows for one token per workgroup. A team of LANES lanes takes a row, BLOCK rows at a
// time; all teams share the x' of a chunk of columns, which before_*.wgsl makes vector by vector.
// What a unit of weights is, the codec says (quant/units_*.wgsl). finish() takes the totals.
// Contract: linear.h
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

const UNITS = IN / UNIT;
const CHUNK_UNITS = ROUNDS * LANES;
const CHUNK = VECTORS * CHUNK_UNITS;  // vectors
const CHUNKS = (UNITS + CHUNK_UNITS - 1u) / CHUNK_UNITS;
const TEAMS = THREADS / LANES;
const TURNS = GROUP_ROWS / (TEAMS * BLOCK) * CHUNKS;

// Neighbouring lanes read the same vector of neighbouring units: these are neighbours here, and a
// vector of padding spreads what neighbouring lanes write over the banks.
const STRIDE = CHUNK_UNITS + 1u;
var<workgroup> staged: array<vec4<f32>, VECTORS * STRIDE>;
var<private> own: array<vec4<f32>, VECTORS>;  // of x', for the unit at hand
var<private> squares = 0.0;  // of the vectors that this lane made
var<private> is_first: bool;  // whether this workgroup has the first rows

// Zeros behind the last column, so that what is loaded there does not count: a branch would make
// every load wait for the one before.
fn stage(chunk: u32, lane: u32) {
  var made: array<vec4<f32>, EACH>;
  for (var i = 0u; i < EACH; i++) {  // written out
    let at = chunk * CHUNK + i * THREADS + lane;
    made[i] = prepared(min(at, IN / 4u - 1u), at < IN / 4u && i * THREADS + lane < CHUNK);
  }
  for (var i = 0u; i < EACH; i++) {  // written out
    let at = i * THREADS + lane;
    if (at < CHUNK) {
      staged[at % VECTORS * STRIDE + at / VECTORS] = made[i];
    }
  }
}

// The units of the next turn, on their way.
var<private> loaded: array<Unit, LOADS>;

fn load_units(first: u32, turn: u32, lane: u32) {
  let row = first + turn / CHUNKS * (TEAMS * BLOCK) + lane / LANES * BLOCK;
  let unit = turn % CHUNKS * CHUNK_UNITS + lane % LANES;
  for (var i = 0u; i < LOADS; i++) {  // written out
    loaded[i] = load_unit(min(row + i % BLOCK, ROWS - 1u) * UNITS +
                          min(unit + i / BLOCK * LANES, UNITS - 1u));
  }
}

fn run(group: vec3<u32>, lane: u32) {
  let first = (group.y * GRID_X + group.x) * GROUP_ROWS;
  if (first >= ROWS) {
    return;
  }
  load_units(first, 0u, lane);
  is_first = FIRST_ROW + first == 0u;
  begin(lane);
  var scale = 1.0;
  var sums: array<f32, BLOCK>;
  for (var turn = 0u; turn < TURNS; turn++) {
    if (turn == 0u || CHUNKS > 1u) {
      workgroupBarrier();
      stage(turn % CHUNKS, lane);
      if (turn == CHUNKS - 1u) {
        fold_all(squares, lane);
      }
      workgroupBarrier();
    }
    if (turn == CHUNKS - 1u) {
      scale = scale_of(total_of_all());  // while weights are under way
    }
    for (var round = 0u; round < ROUNDS; round++) {  // written out
      for (var v = 0u; v < VECTORS; v++) {  // written out
        own[v] = staged[v * STRIDE + round * LANES + lane % LANES];
      }
      note_unit();
      for (var r = 0u; r < BLOCK; r++) {  // written out
        sums[r] += unit_product(loaded[round * BLOCK + r]);
      }
    }
    if (turn + 1u < TURNS) {
      load_units(first, turn + 1u, lane);
    }
    if (turn % CHUNKS == CHUNKS - 1u) {
      let row = turn / CHUNKS * (TEAMS * BLOCK) + lane / LANES * BLOCK;
      for (var r = 0u; r < BLOCK; r++) {  // written out
        fold(row + r, sums[r], lane);
        sums[r] = 0.0;
      }
    }
  }
  workgroupBarrier();
  finish(first, scale, lane);
}
