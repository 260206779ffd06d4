// Powers of two that bring numbers into the range of f16.

// The reciprocal of a power of two, exactly: a division may be off by some units of the last place.
fn inverse(power: f32) -> f32 {
  return bitcast<f32>((254u << 23u) - bitcast<u32>(power));
}

// The power of two that brings the number of those bits, the largest there is, to 2^14 .. 2^15.
fn fitting_scale(bits: u32) -> f32 {
  return bitcast<f32>(clamp(127u + 14u + 127u - (bits >> 23u), 1u, 253u) << 23u);
}
