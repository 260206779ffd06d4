fn store_norm(start: u32, lane: u32, squares: f32) {}
