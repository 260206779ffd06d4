// The sums of every split, then the base of the weights and the total of each of its heads. Of a
// single split they are the result.
fn store_sum(split: u32, head: u32, j: u32, sum: f32, total: f32) {
  if (SPLITS == 1u) {
    y[head * HEAD_DIM + j] = sum / total;
  } else {
    y[(split * HEADS + head) * HEAD_DIM + j] = sum;
  }
}
fn store_score(split: u32, head: u32, base: f32, total: f32) {
  if (SPLITS > 1u) {
    let at = SPLITS * HEADS * HEAD_DIM + 2u * (split * HEADS + head);
    y[at] = base;
    y[at + 1u] = total;
  }
}
