// The rows of the expert that a slot chose, in a matrix of several; slots are group.y, tokens group.z.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;

var<private> slot: u32;
var<private> expert: u32;   // its place in this part of the matrix
var<private> x_start: u32;  // in vectors

fn first_row(group: vec3<u32>) -> u32 {
  return group.x * (REPEATS * GROUP_ROWS);
}

fn unit_of(row: u32, unit: u32) -> u32 {
  return (expert * EXPERT_ROWS + stored_row(row)) * UNITS + unit;
}

// Whether this part of the matrix has the expert. No weights are asked for before it is known.
fn begin_rows(group: vec3<u32>, first: u32, lane: u32) -> bool {
  await_inputs();
  let own_slot = group.z * TOP_K + group.y;
  // Wraps for experts of earlier parts.
  let own_expert = min(chosen[own_slot], EXPERTS - 1u) - FIRST_EXPERT;
  if (own_expert >= HELD) {
    return false;
  }
  slot = own_slot;
  expert = own_expert;
  x_start = (group.z * X_ROWS + group.y % X_ROWS) * (IN / 4u);
  load_units(first, 0u, lane);
  return true;
}

fn x_at(at: u32) -> vec4<f32> {
  return x[x_start + at];
}

fn result_row() -> u32 {
  return slot;
}
