// The batch and its token ids, for the kernel that makes it that of the next step. Each slot has one
// row then, of the same number.
struct Batch {
  rows: u32,
  slots: u32,
  outputs: u32,
  reserved: u32,
  slot: array<Slot, SLOTS>,
  gap: array<u32, (IDS_OFFSET - 16u) / 4u - 16u * SLOTS>,
  ids: array<u32>,
}
@group(0) @binding(0) var<storage, read_write> batch: Batch;

// The slot's next step has this token. For one lane.
fn to_next_step(slot: u32, token: u32) {
  batch.ids[slot] = token;
  batch.slot[slot].position += 1u;
  batch.slot[slot].length += 1u;
  batch.slot[slot].chosen += 1u;
}
