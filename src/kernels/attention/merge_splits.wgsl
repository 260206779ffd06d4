// One head of one row per grid.y and grid.z: the whole attention of its SPLITS parts. Contract:
// merge_splits.h.
@group(0) @binding(INPUT_0) var<storage, read> x : array<vec2<f32>>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y : array<vec2<f32>>;

const ROW = SPLITS * HEADS * (HEAD_PAIRS + 1u);

var<workgroup> bases : array<f32, SPLITS>;
var<workgroup> totals : array<f32, SPLITS>;
var<workgroup> shares : array<f32, SPLITS>;

fn run(group : vec3<u32>, lane : u32) {
  let row = group.z * ROW;
  for (var split = lane; split < SPLITS; split += THREADS) {
    let score = x[row + SPLITS * HEADS * HEAD_PAIRS + split * HEADS + group.y];
    bases[split] = score.x;
    totals[split] = score.y;
  }
  workgroupBarrier();
  var largest = bases[0];
  for (var split = 1u; split < SPLITS; split++) {
    largest = max(largest, bases[split]);
  }
  var total = 0.0;
  for (var split = 0u; split < SPLITS; split++) {
    total += exp(bases[split] - largest) * totals[split];
  }
  for (var split = lane; split < SPLITS; split += THREADS) {
    shares[split] = exp(bases[split] - largest) / total;
  }
  workgroupBarrier();
  let pair = group.x * THREADS + lane;
  if (pair < HEAD_PAIRS) {
    let first = row + group.y * HEAD_PAIRS + pair;
    var sum = vec2<f32>();
    // Four loads of a lane are in flight together.
    for (var four = 0u; four < SPLITS; four += 4u) {
      for (var i = 0u; i < 4u; i++) {  // unroll
        let split = min(four + i, SPLITS - 1u);
        let share = select(0.0, shares[split], four + i < SPLITS);
        sum += share * x[first + split * HEADS * HEAD_PAIRS];
      }
    }
    y[(group.z * HEADS + group.y) * HEAD_PAIRS + pair] = sum;
  }
}
