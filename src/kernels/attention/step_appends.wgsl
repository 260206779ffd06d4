@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> cache: array<StoredUnit>;
const APPENDS = true;
