// The rows of a matrix, some for each workgroup. Their weights are asked for before x is there.
fn first_row(group: vec3<u32>) -> u32 {
  return (group.y * GRID_X + group.x) * (REPEATS * GROUP_ROWS);
}

fn unit_of(row: u32, unit: u32) -> u32 {
  return row * UNITS + unit;
}

// Whether this workgroup has rows; then those of the first iteration are on their way.
fn begin_rows(group: vec3<u32>, first: u32, lane: u32) -> bool {
  if (first >= ROWS) {
    return false;
  }
  load_units(first, 0u, lane);
  await_inputs();
  return true;
}

fn result_row() -> u32 {
  return 0u;
}
