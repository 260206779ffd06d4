fn append(row: u32, head: u32, i: u32, value: vec4<f32>, step: f32) {}
