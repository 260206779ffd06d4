fn bias_at(i: u32) -> Unit {
  return Unit();
}
