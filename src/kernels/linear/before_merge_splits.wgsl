// The whole attention of SPLITS parts: sums that go with different largest scores.
const HEAD_VECTORS = IN / HEADS / 4u;
const SCORES = SPLITS * IN / 4u;  // from here on, for each split and head its largest score and total

// What the sums of a split and head count for.
var<workgroup> split_shares: array<f32, SPLITS * HEADS>;

fn score_of(split: u32, head: u32) -> vec2<f32> {
  let at = split * HEADS + head;
  let pairs = x[SCORES + at / 2u];
  return select(pairs.xy, pairs.zw, at % 2u == 1u);
}

fn begin(lane: u32) {
  for (var head = lane; head < HEADS; head += THREADS) {
    var scores: array<vec2<f32>, SPLITS>;
    var largest = -3.4e38;
    for (var split = 0u; split < SPLITS; split++) {
      scores[split] = score_of(split, head);
      largest = max(largest, scores[split].x);
    }
    var all = 0.0;
    for (var split = 0u; split < SPLITS; split++) {
      scores[split].x = exp(scores[split].x - largest);
      all += scores[split].x * scores[split].y;
    }
    for (var split = 0u; split < SPLITS; split++) {
      split_shares[split * HEADS + head] = scores[split].x / all;
    }
  }
  workgroupBarrier();
}

fn prepared(at: u32, counts: bool) -> vec4<f32> {
  var sum = vec4<f32>();
  for (var split = 0u; split < SPLITS; split++) {
    sum += split_shares[split * HEADS + at / HEAD_VECTORS] * x[split * (IN / 4u) + at];
  }
  return select(vec4<f32>(), sum, counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
