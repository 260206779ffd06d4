// The fragments of attention by matrix units, and its rows: a tile's tokens by the query heads of
// one key head.
const SIDE = 16u;
const GROUP = HEADS / KV_HEADS;
const LOWEST = -3.0e38;

alias Left = subgroup_matrix_left<f16, SIDE, SIDE>;
alias Right = subgroup_matrix_right<f16, SIDE, SIDE>;
alias Result = subgroup_matrix_result<f32, SIDE, SIDE>;

fn token_of(row: u32, tile: Tile) -> u32 {
  return min(tile.first + row / GROUP, tile.end - 1u);
}

fn is_own(row: u32, tile: Tile) -> bool {
  return row < TOKENS * GROUP && tile.first + row / GROUP < tile.end;
}

fn head_of(row: u32, kv_head: u32) -> u32 {
  return kv_head * GROUP + row % GROUP;
}

// The places of a row's elements in q and y.
fn start_of(row: u32, tile: Tile, kv_head: u32) -> u32 {
  return (token_of(row, tile) * HEADS + head_of(row, kv_head)) * HEAD_DIM;
}
