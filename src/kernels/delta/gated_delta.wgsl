// The gated delta rule. Contract: gated_delta.h.
const CORRECTS = 1u;
const SKIPS = 0u;

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

fn query_scale(squares: f32) -> f32 {
  return inverseSqrt(squares + 1e-6) * inverseSqrt(f32(DK));
}

// It makes keys unit vectors.
fn key_scale(squares: f32) -> f32 {
  return inverseSqrt(squares + 1e-6);
}

fn skip_of(head: u32) -> f32 {
  return 0.0;
}

fn rule_of(t: u32, head: u32) -> Rule {
  let end = (t + 1u) * NUMBERS;
  let a = numbers[end - 2u * HEADS + head];
  let b = numbers[end - HEADS + head];
  var log_rate = rates[head];
  if (NEGATED == 1u) {
    log_rate = log(max(-log_rate, 1e-37));
  }
  let log_decay = -min(decay_rate(log_rate, a + rates[HEADS + head]), 80.0);
  return Rule(log_decay, 1.0 / (1.0 + exp(min(-b, 80.0))));
}
