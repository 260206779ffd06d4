// A row of every expert that a token chose as one row of IN columns, SLOT_IN for each slot, whose x is
// multiplied by the share of the slot. mix_results.wgsl stores the results.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;

const SLOT_UNITS = SLOT_IN / UNIT;

// The place of a slot's expert in this part of the matrix; HELD or more where it is in another.
fn expert_of(slot: u32) -> u32 {
  return min(chosen[slot], EXPERTS - 1u) - FIRST_EXPERT;  // wraps for experts of earlier parts
}

fn first_row(group: vec3<u32>) -> u32 {
  return group.x * (REPEATS * GROUP_ROWS);
}

fn unit_of(row: u32, unit: u32) -> u32 {
  let expert = min(expert_of(unit / SLOT_UNITS), HELD - 1u);
  return (expert * ROWS + row) * SLOT_UNITS + unit % SLOT_UNITS;
}

// No weights are asked for before the experts are known.
fn begin_rows(group: vec3<u32>, first: u32, lane: u32) -> bool {
  await_inputs();
  load_units(first, 0u, lane);
  return true;
}

fn x_at(at: u32) -> vec4<f32> {
  let slot = at / (SLOT_IN / 4u);
  return select(0.0, shares[slot], expert_of(slot) < HELD) * x[at];
}

fn result_row() -> u32 {
  return 0u;
}

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  store_mixed(row, value.x);
  store_mixed(row + 1u, value.y);
}
