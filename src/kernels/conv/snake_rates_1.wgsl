@group(0) @binding(INPUT_1) var<storage, read> rates: array<f32>;
