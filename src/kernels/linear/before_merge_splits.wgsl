// The whole attention of SPLITS parts: sums that go with different largest scores. Splits come in
// fours, whose loads are under way together; how many fours there are is no constant, or compilers
// would write all of them out.
const HEAD_VECTORS = IN / HEADS / 4u;
const SCORES = SPLITS * IN / 4u;  // from here on, for each split and head its largest score and total

// What the sums of a split and head count for.
var<workgroup> split_shares: array<f32, SPLITS * HEADS>;

fn split_count() -> u32 {
  return 4u * arrayLength(&x) / (IN + 2u * HEADS);
}

fn score_of(split: u32, head: u32) -> vec2<f32> {
  let at = min(split, SPLITS - 1u) * HEADS + head;
  let pairs = x[SCORES + at / 2u];
  return select(pairs.xy, pairs.zw, at % 2u == 1u);
}

fn begin(lane: u32) {
  for (var head = lane; head < HEADS; head += THREADS) {
    var largest = -3.4e38;
    for (var split = 0u; split < split_count(); split += 4u) {
      for (var i = 0u; i < 4u; i++) {
        largest = max(largest, score_of(split + i, head).x);
      }
    }
    var all = 0.0;
    for (var split = 0u; split < split_count(); split++) {
      let score = score_of(split, head);
      all += exp(score.x - largest) * score.y;
    }
    for (var split = 0u; split < SPLITS; split++) {
      split_shares[split * HEADS + head] = exp(score_of(split, head).x - largest) / all;
    }
  }
  workgroupBarrier();
}

fn prepared(at: u32, counts: bool) -> vec4<f32> {
  var sum = vec4<f32>();
  for (var first = 0u; first < split_count(); first += 4u) {
    for (var i = 0u; i < 4u; i++) {
      let split = min(first + i, SPLITS - 1u);
      let share = select(0.0, split_shares[split * HEADS + at / HEAD_VECTORS], first + i < SPLITS);
      sum += share * x[split * (IN / 4u) + at];
    }
  }
  return select(vec4<f32>(), gate_of(at) * sum, counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
