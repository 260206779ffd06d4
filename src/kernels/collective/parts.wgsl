// The place of element i of the sum in what a rank gives: each of its PARTS parts has a whole row.
fn place_of(i: u32) -> u32 {
  return i / COLUMNS * PARTS * COLUMNS + i % COLUMNS;
}

// The share of that rank in element i.
fn sum_of(rank: u32, i: u32) -> Part {
  let first = place_of(i);
  var sum = part_of[rank][first];
  for (var p = 1u; p < PARTS; p++) {
    sum += part_of[rank][first + p * COLUMNS];
  }
  return sum;
}
