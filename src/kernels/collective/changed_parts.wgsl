// The parts of every rank, which all ranks write.
@group(0) @binding(PART_OF) var<storage, read_write> part_of: binding_array<array<Part>, RANKS>;
