// Mirrors graph/exact_sums.h.
const HIGH_STEP = 0x1p-6f;
const LOW_STEP = 0x1p-30f;
const LARGEST_ADDEND = 0x1p17f;
const LARGEST_HIGH = 1 << 30u;

fn value_of_sum(high: i32, low: i32) -> f32 {
  let value = f32(high) * HIGH_STEP + f32(low) * LOW_STEP;
  // No constant may be a NaN.
  let no_number = bitcast<f32>(0x7fc00000u | (u32(high) & 1u));
  return select(value, no_number, high >= LARGEST_HIGH || high <= -LARGEST_HIGH);
}
