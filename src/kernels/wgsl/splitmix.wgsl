// splitmix64 of base/splitmix.h; numbers of 64 bits are their low and their high half.
fn product_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = (a.x & 0xffffu) * (b.x & 0xffffu);
  let left = (a.x >> 16u) * (b.x & 0xffffu) + (low >> 16u);
  let right = (a.x & 0xffffu) * (b.x >> 16u) + (left & 0xffffu);
  let high = (a.x >> 16u) * (b.x >> 16u) + (left >> 16u) + (right >> 16u);
  return vec2(a.x * b.x, high + a.x * b.y + a.y * b.x);
}

fn folded_64(z: vec2<u32>, bits: u32) -> vec2<u32> {
  return z ^ vec2((z.x >> bits) | (z.y << (32u - bits)), z.y >> bits);
}

fn next_state(state: vec2<u32>) -> vec2<u32> {
  let low = state.x + 0x7f4a7c15u;
  return vec2(low, state.y + 0x9e3779b9u + select(0u, 1u, low < state.x));
}

// The random number of the state that next_state() gives.
fn random_of(state: vec2<u32>) -> vec2<u32> {
  let once = product_64(folded_64(state, 30u), vec2(0x1ce4e5b9u, 0xbf58476du));
  let twice = product_64(folded_64(once, 27u), vec2(0x133111ebu, 0x94d049bbu));
  return folded_64(twice, 31u);
}
