// The products of a tile: TOKEN_TILE lines of x, tokens or slots, by ROW_TILE rows of the matrix, in
// fragments of 16 x 16 that the matrix unit of a subgroup multiplies: f16 x f16, summed in f32.
//
// SUBGROUPS_T x SUBGROUPS_R subgroups of LANES lanes; each owns FRAGMENTS_T x FRAGMENTS_R fragments
// of the result and walks the columns in steps of 16 STEP_FRAGMENTS through workgroup memory, while
// the next AHEAD steps are in flight from global memory. DEPTH steps lie in workgroup memory.
//
// The kernel has x and weight_words, ROWS, and
//   line_start(line, part) -> u32    the element of x where the IN columns of a part begin
//   weight_at(row, part, column) -> u32   the element of the matrix where eight columns begin, which
//                                         are there for all rows; BY_COLUMNS: eight rows of a column
//   last_line() -> u32
//   store_product(line, row, part, value: vec2<f32>)    of row and row + 1; the latter may not be there

const SIDE = 16u;
const STEP = SIDE * STEP_FRAGMENTS;
const ITERATION = STEP * UNROLL;
const EIGHTS = STEP / 8u;
const TOKEN_FRAGMENTS = SUBGROUPS_T * FRAGMENTS_T;
const ROW_FRAGMENTS = SUBGROUPS_R * FRAGMENTS_R;
const TOKEN_TILE = SIDE * TOKEN_FRAGMENTS;
const ROW_TILE = SIDE * ROW_FRAGMENTS;
const LINES = THREADS / EIGHTS;  // of the weights that the lanes bring in at once
const X_LINES = LINES / 2u;      // of x: a lane brings in four columns, so that neighbours load neighbours

// Sixteen lines or rows of one step; each is padded by eight columns, so that the rows of a
// fragment begin in different banks. The first halves of all eights of columns lie in front of the
// second halves: neighbouring lanes store neighbours. Products do not mind the order of columns.
const PITCH = STEP / 4u + 2u;
alias Strip = array<vec4<f16>, SIDE * PITCH>;
var<workgroup> x_strips: array<Strip, DEPTH * TOKEN_FRAGMENTS>;
var<workgroup> w_strips: array<Strip, DEPTH * ROW_FRAGMENTS>;
// BY_COLUMNS, the matrix has one column after the other. A strip is sixteen rows of it, too, but has
// four vectors of each column, in the same order of columns.
const ROW_EIGHTS = ROW_TILE / 8u;
const W_ROWS_ON = select(LINES, 0u, BY_COLUMNS == 1u);  // from one load of a lane to its next
const W_COLUMNS_ON = select(0u, THREADS / ROW_EIGHTS, BY_COLUMNS == 1u);

// The row and the column of a tile where a lane's first load of weights begins.
fn first_w(lane: u32) -> vec2<u32> {
  if (BY_COLUMNS == 1u) {
    return vec2(8u * (lane % ROW_EIGHTS), lane / ROW_EIGHTS);
  }
  return vec2(spread_line(lane / EIGHTS, EIGHTS), 8u * (lane % EIGHTS));
}

// A load's place in memory: the strip, and where in it each half lies.
fn place_of_w(row: u32, column: u32) -> vec3<u32> {
  if (BY_COLUMNS == 1u) {
    let to = 4u * (column / 4u % 2u * (STEP / 2u) + column / 8u * 4u + column % 4u) + row / 8u % 2u * 2u;
    return vec3(row / SIDE, to, to + 1u);
  }
  let to = row % SIDE * PITCH + column / 8u;
  return vec3(row / SIDE, to, to + EIGHTS);
}

// One fragment each for REGIONS subgroups at a time. Fragments must begin at multiples of 16 bytes,
// which no type of f16 asks for. So vec4<f32> here, and every variable has a multiple of 16 bytes,
// whatever order they are placed in.
var<workgroup> results: array<array<vec4<f32>, SIDE * SIDE / 4u>, REGIONS>;

alias Left = subgroup_matrix_left<f16, SIDE, SIDE>;
alias Right = subgroup_matrix_right<f16, SIDE, SIDE>;
alias Result = subgroup_matrix_result<f32, SIDE, SIDE>;

// The factors of x and the weights before they become f16, powers of two.
struct Scales {
  x: f32,
  w: f32,
}
// 0: set when a result is no number, because an f16 was too small for a value; 1, 2: the bits of the
// largest of x and of the weights.
var<workgroup> notes: array<atomic<u32>, 4>;
var<workgroup> agreed: vec4<u32>;

// After the last line stands the last, which callers see to, after the last row or column of
// weights the last; x is zero after the last column. A branch instead would make every load wait
// for the one before.
fn load_x(line: u32, part: u32, column: u32) -> vec4<f32> {
  let at = (line_start(line, part) + min(column, IN - 4u)) / 4u;
  return select(vec4<f32>(), x[at], IN % ITERATION == 0u || column < IN);
}

fn load_w(row: u32, part: u32, column: u32) -> Stored8 {
  return load8(weight_at(row, part, column) / 8u);
}

// The line of the `index`-th of as many lanes as bring in a line: sixteen lanes store at a time, and
// their lines are as far apart as lie in different banks.
fn spread_line(index: u32, lanes: u32) -> u32 {
  if (SPREADS_LINES == 0u) {
    return index;
  }
  let lines = max(16u / lanes, 1u);
  return index / 8u * 8u + index % lines * (8u / lines) + index % 8u / lines;
}
const_assert X_LINES % 8u == 0u;

// A line, a row and a part: where a tile begins.
alias Place = vec3<u32>;

fn multiply(place: Place, lane: u32, subgroup: u32, scales: Scales) {
  let first_line = place.x;
  let first_row = place.y;
  let part = place.z;
  let own_t = subgroup / SUBGROUPS_R * FRAGMENTS_T;
  let own_r = subgroup % SUBGROUPS_R * FRAGMENTS_R;
  let last = last_line();
  let four = lane % (2u * EIGHTS);  // of the columns of x
  let x_line = spread_line(lane / (2u * EIGHTS), 2u * EIGHTS);
  let own_w = first_w(lane);
  var sums: array<Result, FRAGMENTS_T * FRAGMENTS_R>;
  var next_x: array<vec4<f32>, AHEAD * OWN_X>;
  var next_w: array<Stored8, AHEAD * OWN_W>;
  for (var d = 0u; d < AHEAD; d++) {  // unroll
    for (var i = 0u; i < OWN_X; i++) {  // unroll
      let own = min(first_line + x_line + i * X_LINES, last);
      next_x[d * OWN_X + i] = load_x(own, part, d * STEP + 4u * four);
    }
    for (var i = 0u; i < OWN_W; i++) {  // unroll
      next_w[d * OWN_W + i] = load_w(first_row + own_w.x + i * W_ROWS_ON, part,
                                     d * STEP + own_w.y + i * W_COLUMNS_ON);
    }
  }
  for (var start = 0u; start < IN; start += ITERATION) {
    for (var d = 0u; d < UNROLL; d++) {  // unroll
      // A step in memory that is overwritten, one of two, was read before the last barrier.
      if (DEPTH == 1u) {
        workgroupBarrier();
      }
      for (var i = 0u; i < OWN_X; i++) {  // unroll
        let at = x_line + i * X_LINES;
        let to = at % SIDE * PITCH + four % 2u * EIGHTS + four / 2u;
        let x4 = next_x[d % AHEAD * OWN_X + i];
        x_strips[d % DEPTH * TOKEN_FRAGMENTS + at / SIDE][to] = vec4<f16>(x4 * scales.x);
      }
      for (var i = 0u; i < OWN_W; i++) {  // unroll
        let to = place_of_w(own_w.x + i * W_ROWS_ON, own_w.y + i * W_COLUMNS_ON);
        let w = halves8(next_w[d % AHEAD * OWN_W + i], scales.w);
        w_strips[d % DEPTH * ROW_FRAGMENTS + to.x][to.y] = w[0];
        w_strips[d % DEPTH * ROW_FRAGMENTS + to.x][to.z] = w[1];
      }
      let next = start + (d + AHEAD) * STEP;
      for (var i = 0u; i < OWN_X; i++) {  // unroll
        let own = min(first_line + x_line + i * X_LINES, last);
        next_x[d % AHEAD * OWN_X + i] = load_x(own, part, next + 4u * four);
      }
      for (var i = 0u; i < OWN_W; i++) {  // unroll
        next_w[d % AHEAD * OWN_W + i] = load_w(first_row + own_w.x + i * W_ROWS_ON, part,
                                               next + own_w.y + i * W_COLUMNS_ON);
      }
      workgroupBarrier();
      // Offsets are constants: those that are not are checked at every load.
      for (var k = 0u; k < STEP_FRAGMENTS; k++) {  // unroll
        var left: array<Left, FRAGMENTS_T>;
        for (var t = 0u; t < FRAGMENTS_T; t++) {  // unroll
          left[t] = subgroupMatrixLoad<Left, row_major>(&x_strips[d % DEPTH * TOKEN_FRAGMENTS + own_t + t],
                                                        SIDE / 4u * k, PITCH);
        }
        for (var r = 0u; r < FRAGMENTS_R; r++) {  // unroll
          var right: Right;
          if (BY_COLUMNS == 1u) {
            right = subgroupMatrixLoad<Right, row_major>(&w_strips[d % DEPTH * ROW_FRAGMENTS + own_r + r],
                                                         4u * SIDE * k, 4u);
          } else {
            right = subgroupMatrixLoad<Right, col_major>(&w_strips[d % DEPTH * ROW_FRAGMENTS + own_r + r],
                                                         SIDE / 4u * k, PITCH);
          }
          for (var t = 0u; t < FRAGMENTS_T; t++) {  // unroll
            sums[r * FRAGMENTS_T + t] =
                subgroupMatrixMultiplyAccumulate(left[t], right, sums[r * FRAGMENTS_T + t]);
          }
        }
      }
    }
  }
  workgroupBarrier();
  var overflows = false;
  for (var r = 0u; r < FRAGMENTS_R; r++) {  // unroll
    for (var t = 0u; t < FRAGMENTS_T; t++) {  // unroll
      for (var iteration = 0u; iteration < SUBGROUPS_T * SUBGROUPS_R; iteration += REGIONS) {
        if (subgroup / REGIONS * REGIONS == iteration) {
          subgroupMatrixStore<row_major>(&results[subgroup % REGIONS], 0u,
                                         sums[r * FRAGMENTS_T + t], SIDE / 4u);
        }
        workgroupBarrier();
        let first = place + Place(t * SIDE, r * SIDE, 0u);
        overflows |= store_fragments(first, iteration, lane, scales);
        workgroupBarrier();
      }
    }
  }
  if (overflows) {
    atomicStore(&notes[0], 1u);
  }
  workgroupBarrier();
}

// Stores `results` of subgroups from `first` on; returns true when one is no number.
fn store_fragments(place: Place, first: u32, lane: u32, scales: Scales) -> bool {
  var overflows = false;
  for (var i = lane; i < REGIONS * SIDE * SIDE / 2u; i += THREADS) {
    let region = i / (SIDE * SIDE / 2u);
    let pair = i % (SIDE * SIDE / 2u);
    let source = first + region;
    let line = place.x + source / SUBGROUPS_R * (FRAGMENTS_T * SIDE) + pair / (SIDE / 2u);
    let row = place.y + source % SUBGROUPS_R * (FRAGMENTS_R * SIDE) + pair % (SIDE / 2u) * 2u;
    let four = results[region][pair / 2u];
    let sum = select(four.xy, four.zw, pair % 2u == 1u);
    overflows |= any((bitcast<vec2<u32>>(sum) & vec2(0x7f800000u)) == vec2(0x7f800000u));
    if (line <= last_line() && row < ROWS) {
      store_product(line, row, place.z, sum * inverse(scales.x) * inverse(scales.w));
    }
  }
  return overflows;
}

// The bits of the largest finite magnitude: of positive floats they are in the order of the floats.
fn largest_bits(four: vec4<f32>) -> u32 {
  let bits = bitcast<vec4<u32>>(four) & vec4(0x7fffffffu);
  let finite = select(vec4(0u), bits, bits < vec4(0x7f800000u));
  return max(max(finite.x, finite.y), max(finite.z, finite.w));
}

fn find_scales(place: Place, lane: u32) -> Scales {
  for (var column = lane * 8u; column < IN; column += THREADS * 8u) {
    var own_x = 0u;
    for (var t = 0u; t < TOKEN_TILE; t++) {
      let line = min(place.x + t, last_line());
      for (var i = 0u; i < 8u; i += 4u) {
        own_x = max(own_x, largest_bits(load_x(line, place.z, column + i)));
      }
    }
    atomicMax(&notes[1], own_x);
    var own_w = 0u;
    for (var i = 0u; i < ROW_TILE; i++) {
      // A row each; BY_COLUMNS, eight columns of each eight rows.
      let of_column = vec2(i / 8u * 8u, i % 8u);
      let at = select(vec2(i, 0u), of_column, BY_COLUMNS == 1u);
      let w = decode8(load_w(place.y + at.x, place.z, column + at.y));
      own_w = max(own_w, max(largest_bits(w[0]), largest_bits(w[1])));
    }
    atomicMax(&notes[2], own_w);
  }
  workgroupBarrier();
  if (lane == 0u) {
    agreed = vec4(0u, atomicLoad(&notes[1]), atomicLoad(&notes[2]), 0u);
  }
  let bits = workgroupUniformLoad(&agreed);
  return Scales(fitting_scale(bits.y), fitting_scale(bits.z));
}

fn multiply_tile(place: Place, lane: u32, subgroup: u32) {
  if (lane < 4u) {
    atomicStore(&notes[lane], 0u);  // read after a barrier of multiply()
  }
  var scales = Scales(256.0, 64.0);
  for (var attempt = 0u; attempt < 2u; attempt++) {
    multiply(place, lane, subgroup, scales);
    if (lane == 0u) {
      agreed = vec4(atomicLoad(&notes[0]), 0u, 0u, 0u);
    }
    if (workgroupUniformLoad(&agreed).x == 0u) {
      break;
    }
    scales = find_scales(place, lane);
  }
}

