// A product for the few tokens of a short step: every weight is read and decoded once for all of
// them. A lane group of LANES lanes takes BLOCK rows, a lane eight columns of each at a time; all lane groups
// share the x of these columns, four tokens to a vector. Contract: linear.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

const UNITS = IN / 8u;
const CHUNKS = (UNITS + LANES - 1u) / LANES;
const ROWS_AT_ONCE = THREADS / LANES * BLOCK;
const TOKENS = 4u * QUADS;

// [four tokens][column of a unit][unit]: neighbouring lanes read neighbouring vectors.
var<workgroup> staged: array<vec4<f32>, 8u * QUADS * LANES>;

// The next chunk, on its way: units of this lane's rows, and half a unit of x for four tokens.
var<private> loaded: array<Stored8, BLOCK>;
var<private> taken: array<vec4<f32>, 4>;

fn unit_half(lane: u32) -> u32 {
  return lane / LANES % 2u;
}

fn quad_of(lane: u32) -> u32 {
  return lane / (2u * LANES);
}

// Not what lies after the last token: nobody wrote that.
fn brings_x(lane: u32) -> bool {
  return quad_of(lane) < QUADS && 4u * quad_of(lane) < step_rows();
}

// Zeros after the last column, so that what is loaded there does not count.
fn load(row: u32, chunk: u32, lane: u32) {
  let unit = chunk * LANES + lane % LANES;
  for (var r = 0u; r < BLOCK; r++) {  // unroll
    loaded[r] = load8(min(row + r, ROWS - 1u) * UNITS + min(unit, UNITS - 1u));
  }
  if (brings_x(lane)) {
    let at = 2u * min(unit, UNITS - 1u) + unit_half(lane);
    for (var i = 0u; i < 4u; i++) {  // unroll
      let token = min(4u * quad_of(lane) + i, step_rows() - 1u);
      taken[i] = select(vec4<f32>(), x[token * (IN / 4u) + at], unit < UNITS);
    }
  }
}

fn stage(lane: u32) {
  if (brings_x(lane)) {
    for (var i = 0u; i < 4u; i++) {  // unroll
      let column = 8u * quad_of(lane) + 4u * unit_half(lane) + i;
      staged[column * LANES + lane % LANES] =
          vec4(taken[0][i], taken[1][i], taken[2][i], taken[3][i]);
    }
  }
}

fn run(group: vec3<u32>, lane: u32) {
  let first = (group.y * GRID_X + group.x) * ROWS_AT_ONCE;
  if (first >= ROWS) {
    return;
  }
  let row = lane / LANES * BLOCK;
  load(first + row, 0u, lane);
  var sums: array<vec4<f32>, QUADS * BLOCK>;
  for (var chunk = 0u; chunk < CHUNKS; chunk++) {
    workgroupBarrier();
    stage(lane);
    workgroupBarrier();
    var w = array<array<vec4<f32>, 2>, BLOCK>();
    for (var r = 0u; r < BLOCK; r++) {  // unroll
      w[r] = decode8(loaded[r]);
    }
    if (chunk + 1u < CHUNKS) {
      load(first + row, chunk + 1u, lane);
    }
    for (var q = 0u; q < QUADS; q++) {  // unroll
      if (4u * q < step_rows()) {
        for (var h = 0u; h < 2u; h++) {  // unroll
          let at = (8u * q + 4u * h) * LANES + lane % LANES;
          let values = mat4x4(staged[at], staged[at + LANES], staged[at + 2u * LANES],
                              staged[at + 3u * LANES]);
          for (var r = 0u; r < BLOCK; r++) {  // unroll
            sums[q * BLOCK + r] += values * w[r][h];
          }
        }
      }
    }
  }
  for (var q = 0u; q < QUADS; q++) {  // unroll
    if (4u * q < step_rows()) {
      for (var i = 0u; i < 4u; i++) {  // unroll
        for (var r = 0u; r < BLOCK; r++) {  // unroll
          reduction((4u * q + i) * ROWS_AT_ONCE + row + r, sums[q * BLOCK + r][i], lane);
        }
      }
    }
  }
  workgroupBarrier();
  finish(first, FIRST_ROW, lane);
}
