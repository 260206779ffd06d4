// The selective scan on recurrence.wgsl: its C, B and x are the q, k and v there, which nothing
// norms, and what the state has of k takes nothing from v. Contract: selective_scan.h.
fn query_start(t: u32, head: u32) -> u32 {
  return key_start(t, head) + GROUPS * DK;
}

fn key_start(t: u32, head: u32) -> u32 {
  return t * WIDTH + HEADS * DV + head / (HEADS / GROUPS) * DK;
}

fn value_start(t: u32, head: u32) -> u32 {
  return t * WIDTH + head * DV;
}

// The token that has those sums of q q, k k and q k.
fn token_of(t: u32, head: u32, qq: f32, kk: f32, qk: f32) -> Token {
  let dt = numbers[(t + 1u) * NUMBERS - HEADS + head];
  var delta = max(decay_rate(0.0, DT_FACTOR * dt + rates[HEADS + head]), LOW);
  if (HIGH > 0.0) {
    delta = min(delta, HIGH);
  }
  var rate = -rates[head];
  if (NEGATED == 0u) {
    rate = exp(min(rates[head], 80.0));
  }
  let decay = exp(-min(rate * delta, 80.0));
  return Token(decay, delta, 0.0, 1.0, decay, qk, rates[2u * HEADS + head]);
}
