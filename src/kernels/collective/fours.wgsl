alias Part = vec4<f32>;
