// The gated columns of finish_down.wgsl as they are.
var<workgroup> gated_columns: array<f32, SLICE>;
var<private> own_2: array<vec4<f32>, VECTORS_2>;

fn keep_gated(first: u32, scale: f32, repeat: u32, lane: u32) {
  for (var i = 0u; i < GATED_EACH; i++) {  // unroll
    let column = i * THREADS + lane;
    if (column < GROUP_COLUMNS) {
      gated_columns[repeat * GROUP_COLUMNS + column] = gated_at(first, scale, column);
    }
  }
}

fn take_gated(unit: u32) {
  for (var v = 0u; v < VECTORS_2; v++) {  // unroll
    let at = unit * UNIT_2 + 4u * v;
    own_2[v] = vec4(gated_columns[at], gated_columns[at + 1u], gated_columns[at + 2u],
                    gated_columns[at + 3u]);
  }
  record_unit_2();
}
