fn keep(i: u32, value: Unit) {}
fn kept(i: u32) -> Unit {
  return load(i);
}
