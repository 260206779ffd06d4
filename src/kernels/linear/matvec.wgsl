// GROUP_ROWS rows for one token per workgroup. A lane keeps its units of x', which before_*.wgsl
// makes vector by vector and deal_*.wgsl hands out, and takes the same units of every row; what a
// unit is, the codec says (quant/units_*.wgsl). finish() takes the totals. Contract: linear.h
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

const UNITS = IN / UNIT;
var<private> own: array<vec4<f32>, OWN>;
var<private> squares = 0.0;  // of the vectors that this lane made
var<private> is_first: bool;  // whether this workgroup has the first rows

// Whether this lane has a unit in that round. Where it has none it takes the last one, with zeros
// for x: a branch would make every load wait for the one before.
fn has_unit(round: u32, lane: u32) -> bool {
  return UNITS % THREADS == 0u || round * THREADS + lane < UNITS;
}

// The block of rows that comes next, on its way.
var<private> loaded: array<Unit, LOADS>;

fn load_block(first: u32, lane: u32) {
  for (var i = 0u; i < LOADS; i++) {  // written out
    let row = min(first + i % BLOCK, ROWS - 1u);
    loaded[i] = load_unit(row * UNITS + min(i / BLOCK * THREADS + lane, UNITS - 1u));
  }
}

fn run(group: vec3<u32>, lane: u32) {
  let first = (group.y * GRID_X + group.x) * GROUP_ROWS;
  if (first >= ROWS) {
    return;
  }
  load_block(first, lane);
  is_first = FIRST_ROW + first == 0u;
  begin(lane);
  deal(lane);
  note_units();
  // Not a constant: compilers would write all of it out.
  let count = min(GROUP_ROWS, ROWS - first);
  for (var start = 0u; start < count; start += BLOCK) {
    var sums = array<f32, BLOCK>();
    for (var i = 0u; i < LOADS; i++) {  // written out
      sums[i % BLOCK] += unit_product(loaded[i], i / BLOCK);
    }
    if (start + BLOCK < count) {
      load_block(first + start + BLOCK, lane);
    }
    for (var r = 0u; r < BLOCK; r++) {  // written out
      fold(start + r, sums[r], lane);
    }
  }
  fold(GROUP_ROWS, squares, lane);
  workgroupBarrier();
  finish(first, scale_of(total(GROUP_ROWS)), lane);
}
