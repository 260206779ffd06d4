fn bias_of(head: u32, query: u32, key: u32) -> f32 {
  return 0.0;
}

fn biases_of(heads: vec4<u32>, queries: vec4<u32>, key: u32) -> vec4<f32> {
  return vec4(0.0);
}
