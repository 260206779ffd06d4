// Every lane makes its own vectors.
fn deal(lane: u32) {
  for (var i = 0u; i < OWN; i++) {  // written out
    let at = (i / VECTORS * THREADS + lane) * VECTORS + i % VECTORS;
    own[i] = prepared(min(at, UNITS * VECTORS - 1u), has_unit(i / VECTORS, lane));
  }
}
