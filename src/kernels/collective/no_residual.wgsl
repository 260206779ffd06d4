fn begin_sum(i: u32) -> Part {
  return Part();
}
