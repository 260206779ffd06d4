// Of products that no second one follows: nothing is loaded for it.
fn load_behind(first: u32, lane: u32) {}
