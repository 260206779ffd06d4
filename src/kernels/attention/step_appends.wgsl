@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> cache: array<CacheUnit>;
const APPENDS = true;

fn append(at: u32, unit: CacheUnit) {
  cache[at] = unit;
}
