// The only split is the result.
fn store_sum(split: u32, head: u32, j: u32, sum: f32, total: f32) {
  y[head * HEAD_DIM + j] = sum / total;
}
fn store_score(split: u32, head: u32, base: f32, total: f32) {}
