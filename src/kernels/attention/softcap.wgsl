// SOFTCAP is 0 where scores stay as they are.
fn cap_score(score: f32) -> f32 {
  if (SOFTCAP == 0.0) {
    return score;
  }
  return SOFTCAP * tanh(clamp(score / SOFTCAP, -15.0, 15.0));
}

