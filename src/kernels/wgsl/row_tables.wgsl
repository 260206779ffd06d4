// The same as this_batch.wgsl, where sequences have several rows of a step.
struct Batch {
  rows: u32,
  slots: u32,
  outputs: u32,
  reserved: u32,
  slot: array<Slot, SLOTS>,
  output_rows: array<vec4<u32>, (SLOTS + 3u) / 4u>,
  row_slots: array<vec4<u32>, (BATCH_ROWS + 3u) / 4u>,
}
@group(0) @binding(0) var<uniform> batch: Batch;
