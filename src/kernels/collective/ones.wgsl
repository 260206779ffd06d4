alias Part = f32;
