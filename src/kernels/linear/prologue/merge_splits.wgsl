// The whole attention of SPLITS parts: sums whose weights count from different bases. The first PREFETCHED
// splits are loaded early, the others in fours, whose loads are in flight together; how many fours
// there are is no constant, or compilers would write all of them out.
const HEAD_VECTORS = IN / HEADS / 4u;
// From here on, for each split and head its base and its total.
const SCORES = SPLITS * IN / 4u;

// The factors of the sums of a split and head.
var<workgroup> split_weights: array<f32, SPLITS * HEADS>;

fn split_count() -> u32 {
  return 4u * arrayLength(&x) / (IN + 2u * HEADS);
}

fn score_of(split: u32, head: u32) -> vec2<f32> {
  let at = split * HEADS + head;
  let pairs = x[SCORES + at / 2u];
  return select(pairs.xy, pairs.zw, at % 2u == 1u);
}

struct Parts {
  first: array<vec4<f32>, PREFETCHED>,
  gate: vec4<f32>,
}

fn parts_of(at: u32) -> Parts {
  var parts: Parts;
  for (var i = 0u; i < PREFETCHED; i++) {  // unroll
    parts.first[i] = x[i * (IN / 4u) + at];
  }
  parts.gate = gate_of(at);
  return parts;
}

fn begin(lane: u32) {
  for (var head = lane; head < HEADS; head += THREADS) {
    var scores: array<vec2<f32>, SPLITS>;
    var largest = -3.4e38;
    for (var split = 0u; split < SPLITS; split++) {  // unroll
      scores[split] = score_of(split, head);
      largest = max(largest, scores[split].x);
    }
    var all = 0.0;
    for (var split = 0u; split < SPLITS; split++) {  // unroll
      scores[split].x = exp(scores[split].x - largest);
      all += scores[split].x * scores[split].y;
    }
    for (var split = 0u; split < SPLITS; split++) {  // unroll
      split_weights[split * HEADS + head] = scores[split].x / all;
    }
  }
  workgroupBarrier();
}

fn share_of(split: u32, at: u32) -> f32 {
  let share = split_weights[min(split, SPLITS - 1u) * HEADS + at / HEAD_VECTORS];
  return select(0.0, share, split < SPLITS);
}

fn prepared(parts: Parts, at: u32, counts: bool) -> vec4<f32> {
  var sum = vec4<f32>();
  for (var i = 0u; i < PREFETCHED; i++) {  // unroll
    sum += share_of(i, at) * parts.first[i];
  }
  for (var first = PREFETCHED; first < split_count(); first += 4u) {
    for (var i = 0u; i < 4u; i++) {
      sum += share_of(first + i, at) * x[min(first + i, SPLITS - 1u) * (IN / 4u) + at];
    }
  }
  return select(vec4<f32>(), parts.gate * sum, counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
