// The totals of a workgroup's rows, in twos, to the ending. Nothing is loaded for it.
fn load_next_product(first: u32, lane: u32) {}
fn begin_finish(first: u32, lane: u32) {}

fn finish(first: u32, scale: f32, lane: u32) {
  for (var pair = lane; pair < GROUP_ROWS / 2u; pair += THREADS) {
    let row = first + 2u * pair;
    if (row < ROWS) {
      store_pair(result_row(), FIRST_ROW + row, scale * vec2(total(2u * pair), total(2u * pair + 1u)));
    }
  }
}
