// A further key of each head, of that score and value 0: the running softmax begins with it.
@group(0) @binding(INPUT_3) var<storage, read> sinks: array<f32>;

const FIRST_TOTAL = 1.0;

fn first_base(head: u32) -> f32 {
  return sinks[head];
}

// Its part of the total of a head's weights, which are e to the power of score - base.
fn sink_weight(head: u32, base: f32) -> f32 {
  return exp(sinks[head] - base);
}
