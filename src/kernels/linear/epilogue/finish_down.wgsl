// Ending of `gated_ffn`, which goes on to a second product. Of this workgroup's rows, gates and what
// they gate, come SLICE columns of its x'. With them it multiplies the same columns of D and adds what
// it has of each row to fixed-point sums, so that no other workgroup need be waited for. gated_*.wgsl keep the
// columns, down_*.wgsl divide D among the lanes. Names of D's codec end in _2.
@group(0) @binding(R_BINDING) var<storage, read> weight_words_2: array<WeightWord_2>;

const GROUP_COLUMNS = GROUP_ROWS / 2u;
const SLICE = REPEATS * GROUP_COLUMNS;
const SLICE_UNITS = SLICE / UNIT_2;
const DOWN_UNITS = DOWN_COLUMNS / UNIT_2;  // of a row of D
const_assert SLICE % UNIT_2 == 0u;

// The unit `i` of a workgroup's columns in a row of D; after the last of either it is the last, which
// then does not count.
fn load_down(row: u32, first: u32, i: u32) -> Unit_2 {
  let unit = (FIRST_ROW + first) / (2u * UNIT_2) + min(i, SLICE_UNITS - 1u);
  return load_unit_2(min(row, DOWN_ROWS - 1u) * DOWN_UNITS + min(unit, DOWN_UNITS - 1u));
}

// A column of those whose rows begin with `first`.
fn gated_at(first: u32, scale: f32, column: u32) -> f32 {
  let pair = 2u * column;
  let value = scale * vec2(total(pair), total(pair + 1u));
  return select(0.0, activate(value.x) * value.y, first + pair < ROWS);
}

fn begin_finish(first: u32, lane: u32) {}

fn finish(first: u32, scale: f32, lane: u32) {
  let repeat = first / GROUP_ROWS % REPEATS;
  keep_gated(first, scale, repeat, lane);
  if (repeat == REPEATS - 1u) {
    workgroupBarrier();
    add_partials(first - repeat * GROUP_ROWS, lane);
    if (ADDS_X == 1u && is_first) {
      for (var row = lane; row < DOWN_ROWS; row += THREADS) {
        add_fixed_point(row, x_at(row / 4u)[row % 4u]);
      }
    }
  }
}
