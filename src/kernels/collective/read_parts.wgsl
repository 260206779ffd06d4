// The parts of every rank.
@group(0) @binding(PART_OF) var<storage, read> part_of: binding_array<array<Part>, RANKS>;
