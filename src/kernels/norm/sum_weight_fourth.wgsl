@group(0) @binding(INPUT_3) var<storage, read> v: array<Unit>;
