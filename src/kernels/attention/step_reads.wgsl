@group(0) @binding(INPUT_2) var<storage, read> cache: array<CacheUnit>;
@group(0) @binding(INPUT_3) var<storage, read> pages: array<u32>;
const APPENDS = false;

fn append(at: u32, unit: CacheUnit) {}
