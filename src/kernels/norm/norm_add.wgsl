// One group of GROUP neighbours per workgroup, in units: their norm, the addition, and what follows
// it. Contract and reference: norm_add.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<Unit>;
@group(0) @binding(INPUT_1) var<storage, read> a: array<Unit>;
@group(0) @binding(INPUT_2) var<storage, read> u: array<Unit>;

fn run(group: vec3<u32>, lane: u32) {
  let start = group.y * COLUMNS + group.x * GROUP;
  var squares = 0.0;
  for (var c = lane; c < GROUP; c += THREADS) {
    squares += square_of(x[start + c]);
  }
  let scale = inverseSqrt(reduce_sum(squares, lane) / f32(GROUP * UNIT) + EPS);
  let by = FACTOR * factor();
  squares = 0.0;
  for (var c = lane; c < GROUP; c += THREADS) {
    let sum = (a[start + c] + x[start + c] * scale * u[c]) * by;
    keep(start + c, sum);
    squares += square_of(sum);
  }
  store_norm(start, lane, squares);
}
