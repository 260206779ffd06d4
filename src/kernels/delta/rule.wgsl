// The step of a token, for kernels that take tokens one by one (recurrence.wgsl) and in chunks
// (chunk_fragments.wgsl). With S the state, one head's matrix of DK rows by DV columns:
//   k' = key_scale k    q' = query_scale q
//   d  = step (v - decay k'^T S), or step v where CORRECTS is 0
//   S  = decay S + k' d^T
//   y  = q'^T S + skip v
// gated_delta.wgsl and selective_scan.wgsl have CORRECTS, rule_of, the scales, skip_of, and where a token's q, k and v begin.
@group(0) @binding(INPUT_1) var<storage, read> numbers: array<f32>;
@group(0) @binding(INPUT_2) var<storage, read> rates: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> state: array<f32>;

struct Rule {
  log_decay: f32,
  step: f32,
}

// exp(log_rate) softplus(x). With e = exp(-|x|), softplus(x) = max(x, 0) + log(1 + e), which rounds a
// small e away; log(1 + e) = 2 artanh(z) with z = e / (2 + e) does not.
fn decay_rate(log_rate: f32, x: f32) -> f32 {
  let e = exp(-min(abs(x), 80.0));
  let z = e / (2.0 + e);
  let q = z * z;
  var series = 1.0 / 11.0 + q / 13.0;
  series = 1.0 / 7.0 + q * (1.0 / 9.0 + q * series);
  series = 1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * series));
  let log_ratio = 2.0 / (2.0 + e) * series;  // log(1 + e) / e
  if (x < 0.0) {
    return exp(clamp(log_rate + x, -80.0, 80.0)) * log_ratio;
  }
  return exp(clamp(log_rate, -80.0, 80.0)) * (x + e * log_ratio);
}
