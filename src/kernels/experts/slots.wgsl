// The slots of up to TOKENS tokens that chose an expert, for kernels that take one expert per workgroup
// and have the input `chosen`. Their order is the same whenever the choices are: those of a tile may
// depend on each other where one is too large for f16, and a step must give the same bits again.
// Neighbouring lanes look at neighbouring slots, so that a load of them is one line of memory.
//
// Every variable has a multiple of 16 bytes, after which fragments of matrix units may begin.
var<workgroup> found_slots: array<u32, TOKENS>;
var<workgroup> found_by: array<u32, THREADS>;  // slots that lanes up to this one have found
var<workgroup> found_count: vec4<u32>;         // its first element
var<private> own_expert: u32;                  // in this part of the matrix

// REQUIRES: a token's experts differ, so that at most TOKENS slots are found.
fn find_slots(first_token: u32, expert: u32, lane: u32) -> u32 {
  let begin = first_token * TOP_K + lane;
  let end = min(first_token + TOKENS, step_rows()) * TOP_K;
  var own = 0u;
  for (var slot = begin; slot < end; slot += THREADS) {
    own += u32(chosen[slot] == expert);
  }
  found_by[lane] = own;
  workgroupBarrier();
  for (var step = 1u; step < THREADS; step *= 2u) {
    let before = select(0u, found_by[max(lane, step) - step], lane >= step);
    workgroupBarrier();
    found_by[lane] += before;
    workgroupBarrier();
  }
  var place = found_by[lane] - own;
  for (var slot = begin; slot < end; slot += THREADS) {
    if (chosen[slot] == expert) {
      found_slots[min(place, TOKENS - 1u)] = slot;
      place++;
    }
  }
  if (lane == THREADS - 1u) {
    found_count = vec4(min(place, TOKENS), 0u, 0u, 0u);
  }
  return workgroupUniformLoad(&found_count).x;
}

// The place of the first of a slot's columns in x.
fn slot_start(slot: u32) -> u32 {
  return (slot / TOP_K * X_ROWS + slot % X_ROWS) * IN;
}

