@group(0) @binding(INPUT_1) var<storage, read> cache: array<CacheWord>;
@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;
