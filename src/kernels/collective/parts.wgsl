@group(0) @binding(PART_OF) var<storage, read> part_of: binding_array<array<Part>, RANKS>;

// The share of that rank in element i of the sum: each of its PARTS parts has a whole row.
fn sum_of(rank: u32, i: u32) -> Part {
  let first = i / COLUMNS * PARTS * COLUMNS + i % COLUMNS;
  var sum = part_of[rank][first];
  for (var p = 1u; p < PARTS; p++) {
    sum += part_of[rank][first + p * COLUMNS];
  }
  return sum;
}
