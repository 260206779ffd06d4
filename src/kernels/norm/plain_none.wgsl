fn store_plain(i: u32, value: Unit) {}
