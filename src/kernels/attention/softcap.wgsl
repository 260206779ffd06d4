fn cap_score(score: f32) -> f32 {
  return SOFTCAP * tanh(clamp(score / SOFTCAP, -15.0, 15.0));
}

