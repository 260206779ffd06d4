// The totals of a few tokens, in pairs of rows, to the ending; `offset` is the output's row of the
// matrix's first one.
const PAIRS = ROWS_AT_ONCE / 2u;

fn finish(first: u32, offset: u32, lane: u32) {
  for (var i = lane; i < PAIRS * TOKENS; i += THREADS) {
    let token = i / PAIRS;
    let row = i % PAIRS * 2u;
    if (token < step_rows() && first + row < ROWS) {
      let at = token * ROWS_AT_ONCE + row;
      store_pair(token, offset + first + row, vec2(total(at), total(at + 1u)));
    }
  }
}
