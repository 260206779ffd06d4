// HEADS_AT_ONCE whole heads per workgroup: queries, then keys and values where there are some. A lane
// has four pairs that turn, or four of the elements that do not; tokens are grid.y. Contract:
// rope_append.h.
@group(0) @binding(INPUT_0) var<storage, read> rows: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> table: array<vec4<f32>>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec4<f32>>;

const HEAD_FOURS = HEAD_DIM / 4u;
const TURNING = ROTARY / 8u;  // lanes of a head that turn pairs
const HEAD_LANES = TURNING + (HEAD_DIM - ROTARY) / 4u;
const HEADS_AT_ONCE = THREADS / HEAD_LANES;

fn is_key(head: u32) -> bool {
  return head >= HEADS && head < HEADS + KV_HEADS;
}
fn is_value(head: u32) -> bool {
  return head >= HEADS + KV_HEADS;
}
// Values may be the columns of keys.
fn load(row: u32, head: u32, i: u32) -> vec4<f32> {
  let column = select(head, head - VALUES_BACK, is_value(head));
  return rows[row * ROW_FOURS + column * HEAD_FOURS + i];
}
fn store(row: u32, head: u32, i: u32, value: vec4<f32>, step: f32) {
  if (head < HEADS) {
    y[(row * HEADS + head) * HEAD_FOURS + i] = value;
  } else {
    append(row, head - HEADS, i, value, step);
  }
}

fn run(group: vec3<u32>, lane: u32) {
  let head = group.x * HEADS_AT_ONCE + lane / HEAD_LANES;
  let own = lane % HEAD_LANES;
  let has_head = lane < HEADS_AT_ONCE * HEAD_LANES && head < ALL_HEADS;
  let is_pair = own < TURNING;
  // The first alone of elements that do not turn.
  let first = select(TURNING + own, own, is_pair);
  let second = TURNING + own;
  var a = vec4<f32>();
  var b = vec4<f32>();
  if (has_head) {
    a = load(group.y, head, first);
    if (is_pair) {
      b = load(group.y, head, second);
    }
  }
  let scale = norm_scale(head, dot(a, a) + dot(b, b), lane);
  a *= scale * norm_weight(head, first);
  if (is_pair) {
    b *= scale * norm_weight(head, second);
    if (!is_value(head)) {
      let row = angles_of(group.y) * (ROTARY / 4u);
      let cosines = table[row + own];
      let sines = table[row + TURNING + own];
      let turned = a * cosines - b * sines;
      b = b * cosines + a * sines;
      a = turned;
    }
  }
  let step = step_of_head(max(abs(a), abs(b)), lane);
  if (!has_head) {
    return;
  }
  store(group.y, head, first, a, step);
  if (is_pair) {
    store(group.y, head, second, b, step);
  }
}
