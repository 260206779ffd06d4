// Eight elements per lane; rows of tokens are grid.y. Contract and reference: embed.h.
@group(0) @binding(INPUT_0) var<storage, read> tokens: array<u32>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec4<f32>>;

const EIGHTS = COLUMNS / 8u;

fn run(group: vec3<u32>, lane: u32) {
  let i = group.x * THREADS + lane;
  // Wraps for tokens before FIRST_ROW.
  let row = tokens[group.y] - FIRST_ROW;
  if (i < EIGHTS && row < ROWS) {
    let w = weights8(row * EIGHTS + i);
    let at = 2u * (group.y * EIGHTS + i);
    y[at] = SCALE * w[0];
    y[at + 1u] = SCALE * w[1];
  }
  write_other(group.y, i);
}

