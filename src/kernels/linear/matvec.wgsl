// REPEATS times GROUP_ROWS rows for one token per workgroup. A team of LANES lanes takes a row, BLOCK
// rows at a time, and a chunk of columns after the other: before_*.wgsl makes its x' vector by
// vector, of parts that are loaded early, and staged_*.wgsl keeps it, SHARED by all teams or not.
// What a unit of weights is, the codec says (quant/units_*.wgsl). fold*.wgsl adds up what the lanes
// of a team have, row by row (fold_each.wgsl) or four at once, finish() takes the totals of
// GROUP_ROWS rows. x is floats or exact sums (x_floats.wgsl, x_sums.wgsl).
// Contract: linear.h
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

const UNITS = IN / UNIT;
const CHUNK_UNITS = ROUNDS * LANES;
const CHUNK = VECTORS * CHUNK_UNITS;  // vectors
const CHUNKS = (UNITS + CHUNK_UNITS - 1u) / CHUNK_UNITS;
const TEAMS = THREADS / LANES;
const GROUP_TURNS = GROUP_ROWS / (TEAMS * BLOCK) * CHUNKS;
const_assert TURNS == REPEATS * GROUP_TURNS;
const_assert GROUP_ROWS % 2u == 0u;  // they end in pairs

var<private> squares = 0.0;  // of the vectors that this lane made
var<private> is_first: bool;  // whether this workgroup has the first rows

// The units of the next turn, on their way, and those of the turn at hand.
var<private> loaded: array<Unit, ROUNDS * BLOCK>;
var<private> units: array<Unit, ROUNDS * BLOCK>;

fn load_units(first: u32, turn: u32, lane: u32) {
  let row = first + turn / CHUNKS * (TEAMS * BLOCK) + lane / LANES * BLOCK;
  let unit = turn % CHUNKS * CHUNK_UNITS + lane % LANES;
  for (var round = 0u; round < ROUNDS; round++) {  // written out
    for (var r = 0u; r < BLOCK; r++) {  // written out
      loaded[round * BLOCK + r] = load_unit(min(row + r, ROWS - 1u) * UNITS +
                                            min(unit + round * LANES, UNITS - 1u));
    }
  }
}

// What the x' of a chunk that this lane makes are made of.
var<private> own_parts: array<Parts, PARTS>;

fn load_parts(chunk: u32, lane: u32) {
  for (var i = 0u; i < PARTS; i++) {  // written out
    own_parts[i] = parts_of(min(chunk * CHUNK + place_of(i, lane), IN / 4u - 1u));
  }
}

fn load_next(first: u32, turn: u32, lane: u32) {
  if (turn + 1u < TURNS) {
    if (CHUNKS > 1u) {
      load_parts((turn + 1u) % CHUNKS, lane);
    }
    load_units(first, turn + 1u, lane);
  }
}

fn is_in_row(chunk: u32, place: u32) -> bool {
  return place < CHUNK && chunk * CHUNK + place < IN / 4u;
}

fn make(i: u32, chunk: u32, lane: u32) -> vec4<f32> {
  let place = place_of(i, lane);
  return prepared(own_parts[i], min(chunk * CHUNK + place, IN / 4u - 1u), is_in_row(chunk, place));
}

fn run(group: vec3<u32>, lane: u32) {
  let first = (group.y * GRID_X + group.x) * (REPEATS * GROUP_ROWS);
  if (first >= ROWS) {
    return;
  }
  load_units(first, 0u, lane);
  is_first = FIRST_ROW + first == 0u;
  load_parts(0u, lane);
  begin_finish(first, lane);
  begin(lane);
  var scale = 1.0;
  var sums: array<f32, BLOCK>;
  for (var turn = 0u; turn < TURNS; turn++) {  // written out, at most WRITTEN_TURNS
    if (turn == 0u || CHUNKS > 1u) {
      if (SHARED && turn > 0u) {
        workgroupBarrier();
      }
      stage(turn % CHUNKS, lane);
      if (SHARED) {
        if (turn == CHUNKS - 1u) {
          fold_all(1u, squares, lane);
        }
        workgroupBarrier();
      }
    }
    if (turn == CHUNKS - 1u) {
      scale = scale_of(total_of_all(1u));  // while weights are under way
    }
    units = loaded;
    if (turn == TURNS - 1u) {
      load_behind(first, lane);
    }
    if (AHEAD == 1u) {
      load_next(first, turn, lane);
    }
    for (var round = 0u; round < ROUNDS; round++) {  // written out
      take_unit(round, lane);
      for (var r = 0u; r < BLOCK; r++) {  // written out
        sums[r] += unit_product(units[round * BLOCK + r]);
      }
    }
    if (AHEAD == 0u) {
      load_next(first, turn, lane);
    }
    if (turn % CHUNKS == CHUNKS - 1u) {
      let row = turn % GROUP_TURNS / CHUNKS * (TEAMS * BLOCK) + lane / LANES * BLOCK;
      fold_rows(row, sums, lane);
      sums = array<f32, BLOCK>();
    }
    if (turn % GROUP_TURNS == GROUP_TURNS - 1u) {
      let group_first = first + turn / GROUP_TURNS * GROUP_ROWS;
      workgroupBarrier();
      finish(group_first, scale, lane);
      if (REPEATS > 1u) {
        workgroupBarrier();
        begin_finish(group_first + GROUP_ROWS, lane);
      }
    }
  }
}
