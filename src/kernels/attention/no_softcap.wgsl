fn cap_score(score: f32) -> f32 {
  return score;
}

