// The running softmax begins with nothing, below every score.
const FIRST_TOTAL = 0.0;

fn first_base(head: u32) -> f32 {
  return -3.0e38;
}

fn sink_weight(head: u32, base: f32) -> f32 {
  return 0.0;
}
