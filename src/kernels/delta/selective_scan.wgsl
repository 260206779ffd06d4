// The selective scan: its C, B and x are the q, k and v of rule.wgsl, which nothing norms, and what the state has of k
// takes nothing from v. Contract: selective_scan.h.
const CORRECTS = 0u;
const SKIPS = 1u;

fn query_start(t: u32, head: u32) -> u32 {
  return key_start(t, head) + GROUPS * DK;
}

fn key_start(t: u32, head: u32) -> u32 {
  return t * WIDTH + HEADS * DV + head / (HEADS / GROUPS) * DK;
}

fn value_start(t: u32, head: u32) -> u32 {
  return t * WIDTH + head * DV;
}

fn query_scale(squares: f32) -> f32 {
  return 1.0;
}

fn key_scale(squares: f32) -> f32 {
  return 1.0;
}

fn skip_of(head: u32) -> f32 {
  return rates[2u * HEADS + head];
}

fn rule_of(t: u32, head: u32) -> Rule {
  let dt = numbers[(t + 1u) * NUMBERS - HEADS + head];
  var delta = max(decay_rate(0.0, DT_FACTOR * dt + rates[HEADS + head]), LOW);
  if (HIGH > 0.0) {
    delta = min(delta, HIGH);
  }
  var rate = -rates[head];
  if (NEGATED == 0u) {
    rate = exp(min(rates[head], 80.0));
  }
  return Rule(-min(rate * delta, 80.0), delta);
}
