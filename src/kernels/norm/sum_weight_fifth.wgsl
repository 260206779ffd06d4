@group(0) @binding(INPUT_4) var<storage, read> v: array<Unit>;
