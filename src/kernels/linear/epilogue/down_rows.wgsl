// The second product of finish_down.wgsl by a lane for each row, which takes AT_ONCE of them for what it
// reads of the columns.
fn load_next_product(first: u32, lane: u32) {}

fn add_partials(first: u32, lane: u32) {
  var partials: array<f32, AT_ONCE>;
  for (var row = lane; row < DOWN_ROWS; row += AT_ONCE * THREADS) {
    partials = array<f32, AT_ONCE>();  // Dawn makes a variable in a loop 0 but once
    for (var i = 0u; i < SLICE_UNITS; i++) {
      take_gated(i);
      for (var r = 0u; r < AT_ONCE; r++) {  // unroll
        partials[r] += unit_product_2(load_down(row + r * THREADS, first, i));
      }
    }
    for (var r = 0u; r < AT_ONCE; r++) {  // unroll
      if (row + r * THREADS < DOWN_ROWS) {
        add_fixed_point(row + r * THREADS, partials[r]);
      }
    }
  }
}
