// A rank's meeting is its number, then how often each group has met, then for each rank and group
// the last meeting that it has come to; after them what other ranks put for it. A rank that is
// alone has a number beyond all ranks and waits for nobody.
@group(0) @binding(OWN_MEETING) var<storage, read_write> meeting: array<atomic<u32>>;
@group(0) @binding(MEETING_OF) var<storage, read_write> meeting_of: binding_array<array<atomic<u32>>, RANKS>;
