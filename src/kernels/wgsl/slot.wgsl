// Mirrors kernels/batch.h.
struct Slot {
  start: u32,
  count: u32,
  position: u32,
  length: u32,
  index: u32,
  chosen: u32,
  inverse_temperature: f32,
  top_k: u32,
  top_p: f32,
  min_p: f32,
  repetition_penalty: f32,
  random_low: u32,
  random_high: u32,
  masked: u32,
  rotary_shift: u32,
  adapter: u32,
}
