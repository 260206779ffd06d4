// The rank of a block is how many come before it. A workgroup ranks ITEMS blocks; the lanes of one
// share the others; rows are grid.y. Loops have constant lengths, so that loads overlap: what follows the blocks
// comes before none. Contract: topk_tokens.h
@group(0) @binding(INPUT_0) var<storage, read> maxima: array<vec2<u32>>;  // as bits
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

const ROUNDS = (BLOCKS + THREADS - 1u) / THREADS;
var<workgroup> orders: array<u32, ROUNDS * THREADS>;
var<workgroup> ranks: array<atomic<u32>, ITEMS>;

fn run(group: vec3<u32>, lane: u32) {
  if (lane < ITEMS) {
    atomicStore(&ranks[lane], 0u);
  }
  for (var round = 0u; round < ROUNDS; round++) {
    let i = round * THREADS + lane;
    orders[i] = select(0u, order_of(maxima[group.y * BLOCKS + min(i, BLOCKS - 1u)].x), i < BLOCKS);
  }
  workgroupBarrier();
  let item = lane % ITEMS;
  let block = group.x * ITEMS + item;
  if (block < BLOCKS) {
    let own = orders[block];
    var before = 0u;
    for (var round = 0u; round < ROUNDS * ITEMS; round++) {
      let i = round * (THREADS / ITEMS) + lane / ITEMS;
      let order = orders[i];
      before += select(0u, 1u, order > own || (order == own && i < block));
    }
    atomicAdd(&ranks[item], before);
  }
  workgroupBarrier();
  if (lane < ITEMS && block < BLOCKS) {
    let rank = atomicLoad(&ranks[item]);
    if (rank < KEPT) {
      y[group.y * KEPT + rank] = f32(block);
    }
  }
}
