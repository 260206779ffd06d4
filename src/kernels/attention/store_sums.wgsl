// The sums of every split, then the base of the weights and the total of each of its heads. Of a
// single split they are the result.
const SUM_ROW = HEADS * SPLITS * (HEAD_DIM + select(2u, 0u, SPLITS == 1u));

fn store_sum(token: u32, split: u32, head: u32, j: u32, sum: f32, total: f32) {
  if (SPLITS == 1u) {
    y[token * SUM_ROW + head * HEAD_DIM + j] = sum / total;
  } else {
    y[token * SUM_ROW + (split * HEADS + head) * HEAD_DIM + j] = sum;
  }
}
fn store_score(token: u32, split: u32, head: u32, base: f32, total: f32) {
  if (SPLITS > 1u) {
    let at = token * SUM_ROW + SPLITS * HEADS * HEAD_DIM + 2u * (split * HEADS + head);
    y[at] = base;
    y[at + 1u] = total;
  }
}
