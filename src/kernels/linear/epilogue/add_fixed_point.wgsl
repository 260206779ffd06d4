// Adds to a row of fixed-point sums; see graph/fixed_point_sums.h.
@group(0) @binding(OUTPUT_0) var<storage, read_write> sums: array<atomic<i32>>;

fn add_fixed_point(row: u32, value: f32) {
  if (!(abs(value) < MAX_ADDEND)) {
    atomicMax(&sums[row], 0x7fffffff);
    return;
  }
  let high = round(value / HIGH_STEP);
  atomicAdd(&sums[row], i32(high));
  atomicAdd(&sums[DOWN_ROWS + row], i32(round((value - high * HIGH_STEP) / LOW_STEP)));
}
