// The heads that a workgroup makes ready for a token: its QUERIES, the step's own key and value;
// and the memory where it keeps them.
@group(0) @binding(INPUT_0) var<storage, read> rows: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> table: array<f32>;

const UNITS = HEAD_DIM / 8u;  // of a head; one is what a lane loads at once
const HALF = ROTARY / 2u;
const KEY = QUERIES;
const VALUE = QUERIES + 1u;

// The place of head `i` of those made ready in the row. VALUE_HEADS are between a key and its
// value.
fn head_start(i: u32, first_head: u32, kv_head: u32) -> u32 {
  if (i < QUERIES) {
    return (first_head + i) * HEAD_DIM;
  }
  return (HEADS + (i - QUERIES) * VALUE_HEADS + kv_head) * HEAD_DIM;
}

// A lane makes pairs of elements that turn together; what lies beyond the rotary part comes in
// pairs of neighbours.
const HEAD_PAIRS = HEAD_DIM / 2u;

struct Pair {
  head: u32,
  a: u32,
  b: u32,
}

fn pair_of(i: u32) -> Pair {
  let pair = i % HEAD_PAIRS;
  let rotates = pair < HALF;
  return Pair(i / HEAD_PAIRS, select(2u * pair, pair, rotates),
              select(2u * pair + 1u, pair + HALF, rotates));
}

// The pair's values in the row, of which each of the PARTS parts has all columns.
fn value_of(token: u32, pair: Pair, first_head: u32, kv_head: u32) -> vec2<f32> {
  let start = token * PARTS * ROW_COLUMNS + head_start(pair.head, first_head, kv_head);
  var value = vec2(0.0);
  for (var p = 0u; p < PARTS; p++) {  // unroll
    value += vec2(rows[start + p * ROW_COLUMNS + pair.a], rows[start + p * ROW_COLUMNS + pair.b]);
  }
  return value;
}

// Cosine and sine of the angle by which the pair turns.
fn angle_of(token: u32, pair: Pair) -> vec2<f32> {
  var angle = vec2(1.0, 0.0);
  if (pair.a < HALF && pair.head != VALUE) {
    let slot = slot_of_row(token);
    let is_long = batch.slot[slot].length > SHORT_ROWS;
    let angles = position_of(token) + batch.slot[slot].rotary_shift;
    let rotation = (angles + select(0u, SHORT_ROWS, is_long)) * ROTARY;
    angle = vec2(table[rotation + pair.a], table[rotation + HALF + pair.a]);
  }
  return angle;
}

// The heads made ready, later SUMS heads of sums. Elements that have the same place in their units
// are neighbours, and rows of them begin four banks apart: lanes that read units, or write
// neighbouring elements, meet in no bank.
const STRIDE = (UNITS + 3u) / 8u * 8u + 4u;
const HEAD_SIZE = 8u * STRIDE;
var<workgroup> heads: array<f32, max(PREPARED_HEADS, SUMS) * HEAD_SIZE>;
var<workgroup> group_scores: array<vec2<f32>, SUMS>;  // base and total of each

// The place of element `j` of a unit.
fn place_in(head: u32, unit: u32, j: u32) -> u32 {
  return head * HEAD_SIZE + j * STRIDE + unit;
}
fn place_of(head: u32, element: u32) -> u32 {
  return place_in(head, element / 8u, element % 8u);
}

// `value` is normed already.
fn set_pair(pair: Pair, value: vec2<f32>, angle: vec2<f32>) {
  heads[place_of(pair.head, pair.a)] = value.x * angle.x - value.y * angle.y;
  heads[place_of(pair.head, pair.b)] = value.y * angle.x + value.x * angle.y;
}

// Unit `i` of a head that was made ready.
fn prepared_unit(head: u32, i: u32) -> array<vec4<f32>, 2> {
  var unit: array<vec4<f32>, 2>;
  for (var j = 0u; j < 8u; j++) {  // unroll
    unit[j / 4u][j % 4u] = heads[place_in(head, i, j)];
  }
  return unit;
}
