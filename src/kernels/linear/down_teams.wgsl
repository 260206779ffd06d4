// The second product of finish_down.wgsl by teams of DOWN_TEAM lanes, a power of two: a lane has one
// unit of as many rows, and what it has of all but one goes to its neighbours. AT_ONCE such turns are
// loaded together, the first of them before the first product ends.
var<private> loaded_down: array<Unit_2, DOWN_DEPTH>;
var<private> down_units: array<Unit_2, DOWN_DEPTH>;
const_assert DOWN_DEPTH == AT_ONCE * DOWN_TEAM;

fn load_turn(turn: u32, first: u32, lane: u32) {
  for (var i = 0u; i < DOWN_DEPTH; i++) {  // written out
    let row = (turn * AT_ONCE + i / DOWN_TEAM) * THREADS + lane / DOWN_TEAM * DOWN_TEAM + i % DOWN_TEAM;
    loaded_down[i] = load_down(row, first, lane % DOWN_TEAM);
  }
}

fn load_behind(first: u32, lane: u32) {
  load_turn(0u, first, lane);
}

fn add_shares(first: u32, lane: u32) {
  let counts = lane % DOWN_TEAM < SLICE_UNITS;
  take_gated(min(lane % DOWN_TEAM, SLICE_UNITS - 1u));
  for (var turn = 0u; turn < DOWN_TURNS; turn++) {
    down_units = loaded_down;
    if (turn + 1u < DOWN_TURNS) {
      load_turn(turn + 1u, first, lane);
    }
    for (var p = 0u; p < AT_ONCE; p++) {  // written out
      var shares: array<f32, DOWN_TEAM>;
      for (var r = 0u; r < DOWN_TEAM; r++) {  // written out
        shares[r] = select(0.0, unit_product_2(down_units[p * DOWN_TEAM + r]), counts);
      }
      // At each step a lane hands half of its rows on, until it has the one of its own number.
      for (var i = 0u; i < TEAM_STEPS; i++) {  // written out
        let is_odd = (lane >> i) % 2u == 1u;
        for (var j = 0u; j < HALF_TEAM; j++) {  // written out
          if (j < (DOWN_TEAM >> (i + 1u))) {
            let given = select(shares[2u * j + 1u], shares[2u * j], is_odd);
            shares[j] = select(shares[2u * j], shares[2u * j + 1u], is_odd) +
                        subgroupShuffleXor(given, 1u << i);
          }
        }
      }
      let row = (turn * AT_ONCE + p) * THREADS + lane;
      if (row < DOWN_ROWS) {
        add_exactly(row, shares[0]);
      }
    }
  }
}
