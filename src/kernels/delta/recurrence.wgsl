// The state of one head, which each token changes by rule.wgsl, one after the other: what the gated delta rule
// and the selective scan share. COLS columns of the state per workgroup: grid.x are the blocks of columns, grid.y the
// heads, grid.z the slots. A lane holds 4 * QUADS rows of one column in registers, PARTS lanes share
// a column.
//
// Both products of a token with S come from the state before it, so that they meet in one barrier:
//   d = step (v - seen k^T S)     S' = decay S + k_scale k d^T     y = read q^T S + qk d + skip v
@group(0) @binding(INPUT_0) var<storage, read> vectors: array<f32>;

const ROW_QUADS = QUADS * PARTS;  // of a staged q or k, zeros after DK
const THREADS = COLS * PARTS;

struct Token {
  decay: f32,
  step: f32,
  seen: f32,
  k_scale: f32,
  read: f32,
  qk: f32,
  skip: f32,
}

var<workgroup> queries: array<vec4<f32>, TOKENS * ROW_QUADS>;
var<workgroup> keys: array<vec4<f32>, TOKENS * ROW_QUADS>;
var<workgroup> values: array<f32, TOKENS * COLS>;
var<workgroup> tokens: array<Token, TOKENS>;
// Two sets by turns, so that a token's sums are read while the next one's are written.
var<workgroup> lane_sums: array<vec2<f32>, 2u * THREADS>;

fn quad(start: u32, first: u32) -> vec4<f32> {
  var four = vec4<f32>();
  for (var i = 0u; i < 4u; i++) {
    if (first + i < DK) {
      four[i] = vectors[start + first + i];
    }
  }
  return four;
}

// Stages q, k and v of up to TOKENS tokens. LOADERS lanes share a token's q and k.
fn stage(first: u32, count: u32, head: u32, column: u32, lane: u32) {
  let own = lane / LOADERS;
  if (own < count) {
    let q_start = query_start(first + own, head);
    let k_start = key_start(first + own, head);
    var qq = 0.0;
    var kk = 0.0;
    var qk = 0.0;
    for (var i = lane % LOADERS; i < ROW_QUADS; i += LOADERS) {
      let q = quad(q_start, 4u * i);
      let k = quad(k_start, 4u * i);
      queries[own * ROW_QUADS + i] = q;
      keys[own * ROW_QUADS + i] = k;
      qq += dot(q, q);
      kk += dot(k, k);
      qk += dot(q, k);
    }
    lane_sums[lane] = vec2(qq, kk);
    lane_sums[THREADS + lane] = vec2(qk, 0.0);
  }
  for (var i = lane; i < count * COLS; i += THREADS) {
    let c = column + i % COLS;
    if (c < DV) {
      values[i] = vectors[value_start(first + i / COLS, head) + c];
    } else {
      values[i] = 0.0;
    }
  }
}

fn describe(t: u32, head: u32, own: u32) {
  var sums = vec3<f32>();
  for (var i = own * LOADERS; i < (own + 1u) * LOADERS; i++) {
    sums += vec3(lane_sums[i], lane_sums[THREADS + i].x);
  }
  let rule = rule_of(t, head);
  let decay = exp(rule.log_decay);
  let q_scale = query_scale(sums.x);
  let k_scale = key_scale(sums.y);
  tokens[own] = Token(decay, rule.step, select(0.0, decay * k_scale, CORRECTS == 1u), k_scale, decay * q_scale,
                      sums.z * q_scale * k_scale, skip_of(head));
}

fn run(group: vec3<u32>, lane: u32) {
  let head = group.y;
  let own_column = lane % COLS;
  let column = group.x * COLS + own_column;
  let part = lane / COLS;
  let own_quad = part * QUADS;
  let slot = group.z;
  let start = batch.slot[slot].start;
  let rows = batch.slot[slot].count;
  let state_start = ((batch.slot[slot].index * HEADS + head) * DK + 4u * own_quad) * DV + column;

  var s: array<vec4<f32>, QUADS>;
  for (var i = 0u; i < QUADS; i++) {
    var four = vec4<f32>();
    for (var j = 0u; j < 4u; j++) {
      if (batch.slot[slot].position != 0u && column < DV && 4u * (own_quad + i) + j < DK) {
        four[j] = state[state_start + (4u * i + j) * DV];
      }
    }
    s[i] = four;
  }

  for (var first = 0u; first < rows; first += TOKENS) {
    let count = min(TOKENS, rows - first);
    workgroupBarrier();
    stage(start + first, count, head, group.x * COLS, lane);
    workgroupBarrier();
    if (lane < count) {
      describe(start + first + lane, head, lane);
    }
    workgroupBarrier();
    for (var t = 0u; t < count; t++) {
      let token = tokens[t];
      let row = t * ROW_QUADS + own_quad;
      var sums = vec2<f32>();
      for (var i = 0u; i < QUADS; i++) {
        sums += vec2(dot(keys[row + i], s[i]), dot(queries[row + i], s[i]));
      }
      let bank = (t % 2u) * THREADS;
      lane_sums[bank + lane] = sums;
      workgroupBarrier();
      var total = vec2<f32>();
      for (var i = 0u; i < PARTS; i++) {
        total += lane_sums[bank + i * COLS + own_column];
      }
      let value = values[t * COLS + own_column];
      let d = token.step * (value - token.seen * total.x);
      if (part == 0u && column < DV) {
        y[(start + first + t) * HEADS * DV + head * DV + column] =
            token.read * total.y + token.qk * d + token.skip * value;
      }
      for (var i = 0u; i < QUADS; i++) {
        s[i] = token.decay * s[i] + keys[row + i] * (token.k_scale * d);
      }
    }
  }

  for (var i = 0u; i < QUADS; i++) {
    for (var j = 0u; j < 4u; j++) {
      if (column < DV && 4u * (own_quad + i) + j < DK) {
        state[state_start + (4u * i + j) * DV] = s[i][j];
      }
    }
  }
}
