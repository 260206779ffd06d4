// The x of a product for one token, of fixed-point sums.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<i32>>;

fn x_at(at: u32) -> vec4<f32> {
  let high = x[at];
  let low = x[IN / 4u + at];
  return vec4(value_of_sum(high.x, low.x), value_of_sum(high.y, low.y), value_of_sum(high.z, low.z),
              value_of_sum(high.w, low.w));
}
