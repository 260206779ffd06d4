@group(0) @binding(INPUT_2) var<storage, read> cache: array<StoredUnit>;
@group(0) @binding(INPUT_3) var<storage, read> pages: array<u32>;
const APPENDS = false;

fn append(cell: u32, part: u32, kv_head: u32, i: u32, unit: CacheUnit) {}
