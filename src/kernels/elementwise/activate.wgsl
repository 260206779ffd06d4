// By ACTIVATION; the numbers are those of graph/activation.h.
const SILU = 0u;
const GELU_TANH = 1u;
const SIGMOID = 2u;
const GELU_ERF = 4u;
const TANH = 5u;
const RELU = 6u;
const RELU_SQUARED = 7u;
const ELU = 8u;
const GELU_QUICK = 9u;

// The probability of a normal number below -|x|: half of erfc(z) with z = |x| / sqrt(2), which is
// t P(t) exp(-z z) with t = 1 / (1 + z / 2). P is a fit to within 5e-8 for z up to 7; what is
// beyond is 0 beside any x.
fn normal_tail(x: f32) -> f32 {
  let z = min(abs(x) * 0.7071067811865476, 9.0);
  let t = 1.0 / (1.0 + 0.5 * z);
  var p = -0.055503147 * t + 0.2670924311;
  p = p * t - 0.4507407026;
  p = p * t + 0.2359283636;
  p = p * t + 0.002821057262;
  p = p * t + 0.1899794691;
  p = p * t + 0.2464027333;
  p = p * t + 0.2819052534;
  p = p * t + 0.2821145153;
  return 0.5 * t * p * exp(-z * z);
}

fn activate(x: f32) -> f32 {
  if (ACTIVATION == SILU) {
    return x / (1.0 + exp(min(-x, 80.0)));
  }
  if (ACTIVATION == GELU_TANH) {
    let inner = 0.7978845608028654 * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1.0 + tanh(clamp(inner, -15.0, 15.0)));
  }
  if (ACTIVATION == SIGMOID) {
    return 1.0 / (1.0 + exp(min(-x, 80.0)));
  }
  if (ACTIVATION == GELU_ERF) {
    let tail = normal_tail(x);
    return x * select(1.0 - tail, tail, x < 0.0);
  }
  if (ACTIVATION == TANH) {
    return tanh(clamp(x, -15.0, 15.0));
  }
  if (ACTIVATION == RELU) {
    return max(x, 0.0);
  }
  if (ACTIVATION == RELU_SQUARED) {
    return max(x, 0.0) * max(x, 0.0);
  }
  if (ACTIVATION == ELU) {
    return max(x, 0.0) + (exp(min(x, 0.0)) - 1.0);
  }
  if (ACTIVATION == GELU_QUICK) {
    return x / (1.0 + exp(min(-1.702 * x, 80.0)));
  }
  return x;
}

