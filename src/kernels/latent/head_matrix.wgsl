// A tile of tokens by a tile of rows of one head's matrix per workgroup: see linear/matrix_tile.wgsl,
// whose parts are heads. Contract: latent.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

const ROWS = OUT;

fn line_start(token: u32, head: u32) -> u32 {
  return (token * HEADS + head) * IN;
}

fn last_line() -> u32 {
  return step_rows() - 1u;
}

// A transposed matrix has the OUT results of one column after the other.
fn weight_at(row: u32, head: u32, column: u32) -> u32 {
  if (BY_COLUMNS == 1u) {
    return (head * IN + min(column, IN - 1u)) * OUT + min(row, OUT - 8u);
  }
  return (head * OUT + min(row, OUT - 1u)) * IN + min(column, IN - 8u);
}

fn store_product(token: u32, row: u32, head: u32, value: vec2<f32>) {
  let at = (token * HEADS + head) * OUT + row;
  y[at] = value.x;
  if (row + 1u < OUT) {
    y[at + 1u] = value.y;
  }
}

fn run(group: vec3<u32>, lane: u32, subgroup: u32) {
  multiply_tile(Place(group.y * TOKEN_TILE, group.x * ROW_TILE, group.z), lane, subgroup);
}
