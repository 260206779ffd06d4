struct Batch {
  rows: u32,
  slots: u32,
  outputs: u32,
  reserved: u32,
  slot: array<Slot, SLOTS>,
}
@group(0) @binding(0) var<uniform> batch: Batch;
