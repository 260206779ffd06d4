// The rows of this kernel: those of the step, or after last_row its output rows.
fn step_rows() -> u32 {
  return select(batch.rows, batch.outputs, OUTPUT_ROWS);
}
