// Units are so long that lanes would load far apart: neighbours make neighbouring vectors, and pass
// them on through workgroup memory. A unit is padded by a vector, which spreads it over the banks.
const STRIDE = VECTORS + 1u;
var<workgroup> staged: array<vec4<f32>, STAGE * STRIDE>;

fn deal(lane: u32) {
  for (var round = 0u; round < ROUNDS; round++) {  // written out
    for (var part = 0u; part < STAGES; part++) {
      let first = (round * THREADS + part * STAGE) * VECTORS;
      // EACH vectors are under way before the first is stored.
      var made: array<vec4<f32>, EACH>;
      for (var i = 0u; i < EACH; i++) {
        let at = first + i * THREADS + lane;
        made[i] = prepared(min(at, UNITS * VECTORS - 1u), at < UNITS * VECTORS);
      }
      for (var i = 0u; i < EACH; i++) {
        let at = i * THREADS + lane;
        staged[at / VECTORS * STRIDE + at % VECTORS] = made[i];
      }
      workgroupBarrier();
      if (lane / STAGE == part) {
        for (var i = 0u; i < VECTORS; i++) {  // written out
          own[round * VECTORS + i] = staged[lane % STAGE * STRIDE + i];
        }
      }
      workgroupBarrier();
    }
  }
}
