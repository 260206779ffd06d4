// The gated columns of finish_down.wgsl as they are.
var<workgroup> gated_columns: array<f32, SLICE>;
var<private> own_2: array<vec4<f32>, VECTORS_2>;

fn keep_gated(column: u32, value: f32, counts: bool, lane: u32) {
  if (counts) {
    gated_columns[column] = value;
  }
}

fn take_gated(unit: u32) {
  for (var v = 0u; v < VECTORS_2; v++) {  // written out
    let at = unit * UNIT_2 + 4u * v;
    own_2[v] = vec4(gated_columns[at], gated_columns[at + 1u], gated_columns[at + 2u],
                    gated_columns[at + 3u]);
  }
  note_unit_2();
}
