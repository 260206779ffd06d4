// A number of a row of fixed-point sums; see graph/fixed_point_sums.h.
fn value_of_sum(high: i32, low: i32) -> f32 {
  let value = f32(high) * HIGH_STEP + f32(low) * LOW_STEP;
  // No constant may be a NaN.
  let no_number = bitcast<f32>(0x7fc00000u | (u32(high) & 1u));
  return select(value, no_number, high >= i32(MAX_HIGH) || high <= -i32(MAX_HIGH));
}
