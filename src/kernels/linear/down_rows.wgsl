// The second product of finish_down.wgsl by a lane for each row.
fn load_behind(first: u32, lane: u32) {}

fn add_shares(first: u32, lane: u32) {
  for (var row = lane; row < DOWN_ROWS; row += THREADS) {
    var sum = 0.0;
    for (var i = 0u; i < SLICE_UNITS; i++) {
      take_gated(i);
      sum += unit_product_2(load_down(row, first, i));
    }
    add_exactly(row, sum);
  }
}
