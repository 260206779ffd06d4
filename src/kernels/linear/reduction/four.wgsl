// Beside reduction/shuffle.wgsl: four rows of a lane group in six shuffles instead of twenty. At each of the
// first two steps a lane hands half of its rows on and keeps the others, so that every fourth lane
// ends with the same row.
const_assert BLOCK == 4u && LANES == 32u;

fn reduce_rows(row: u32, sums: array<f32, BLOCK>, lane: u32) {
  let first = vec2(sums[0], sums[1]);
  let last = vec2(sums[2], sums[3]);
  let keeps_last = lane % 2u == 1u;
  let given = select(last, first, keeps_last);
  let two = select(first, last, keeps_last) +
            vec2(subgroupShuffleXor(given.x, 1u), subgroupShuffleXor(given.y, 1u));
  let keeps_odd = lane / 2u % 2u == 1u;
  var sum = select(two.x, two.y, keeps_odd) +
            subgroupShuffleXor(select(two.y, two.x, keeps_odd), 2u);
  for (var i = 0u; i < 3u; i++) {  // unroll
    sum += subgroupShuffleXor(sum, 4u << i);
  }
  if (lane % 32u < 4u) {
    lane_group_partials[row + lane % 2u * 2u + lane / 2u % 2u] = sum;
  }
}
