// The gated delta rule on recurrence.wgsl. Contract: gated_delta.h.
fn query_start(t: u32, head: u32) -> u32 {
  let key_head = select(head / (HEADS / KEY_HEADS), head % KEY_HEADS, TILED == 1u);
  return t * WIDTH + key_head * DK;
}

fn key_start(t: u32, head: u32) -> u32 {
  return query_start(t, head) + KEY_HEADS * DK;
}

fn value_start(t: u32, head: u32) -> u32 {
  return t * WIDTH + 2u * KEY_HEADS * DK + head * DV;
}

// The token that has those sums of q q, k k and q k.
fn token_of(t: u32, head: u32, qq: f32, kk: f32, qk: f32) -> Token {
  let end = (t + 1u) * NUMBERS;
  let a = numbers[end - 2u * HEADS + head];
  let b = numbers[end - HEADS + head];
  var log_rate = rates[head];
  if (NEGATED == 1u) {
    log_rate = log(max(-log_rate, 1e-37));
  }
  let decay = exp(-min(decay_rate(log_rate, a + rates[HEADS + head]), 80.0));
  let q_scale = inverseSqrt(qq + 1e-6) * inverseSqrt(f32(DK));
  let k_scale = inverseSqrt(kk + 1e-6);
  let step = 1.0 / (1.0 + exp(min(-b, 80.0)));
  return Token(decay, step, decay * k_scale, k_scale, decay * q_scale,
               qk * q_scale * k_scale, 0.0);
}
