// Values as numbers in the order of candidates; both zeros are one. NaN, infinities and the lowest
// f32 are 0: no candidates.
const LOWEST = -3.4028234e38;

fn order_of(bits: u32) -> u32 {
  if ((bits & 0x7f800000u) == 0x7f800000u || bits == 0xff7fffffu) {
    return 0u;
  }
  if ((bits & 0x7fffffffu) == 0u) {
    return 0x80000000u;
  }
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) != 0u);
}

fn value_of(order: u32) -> f32 {
  return select(bitcast<f32>(select(~order, order & 0x7fffffffu, order >= 0x80000000u)), LOWEST,
                order == 0u);
}
