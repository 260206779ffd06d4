// The sum of what every rank has, in the order of the ranks: all have the same bits. Each rank reads
// all of it from the others' memory, HELD values at a time, since that takes microseconds.
@group(0) @binding(PART_OF) var<storage, read> part_of: binding_array<array<Part>, RANKS>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<Part>;

// Each of the PARTS parts of a rank has a whole row.
fn sum_of(rank: u32, i: u32) -> Part {
  let first = i / COLUMNS * PARTS * COLUMNS + i % COLUMNS;
  var sum = part_of[rank][first];
  for (var p = 1u; p < PARTS; p++) {
    sum += part_of[rank][first + p * COLUMNS];
  }
  return sum;
}

fn run(group: vec3<u32>, lane: u32) {
  meet(group.x, lane);
  let count = select(step_rows(), 1u, ONE_ROW == 1u) * COLUMNS;
  for (var begin = group.x * THREADS * HELD + lane; begin < count; begin += GROUPS * THREADS * HELD) {
    var sums: array<Part, HELD>;
    for (var i = 0u; i < HELD; i++) {  // unroll
      sums[i] = begin_sum(min(begin + i * THREADS, count - 1u));
    }
    for (var rank = 0u; rank < RANKS; rank++) {
      for (var i = 0u; i < HELD; i++) {  // unroll
        sums[i] += sum_of(rank, min(begin + i * THREADS, count - 1u));
      }
    }
    for (var i = 0u; i < HELD; i++) {  // unroll
      if (begin + i * THREADS < count) {
        y[begin + i * THREADS] = sums[i];
      }
    }
  }
  leave(group.x, lane);
}
