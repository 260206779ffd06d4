// By ACTIVATION; the numbers are those of graph/activation.h.
const SILU = 0u;
const GELU_TANH = 1u;
const SIGMOID = 2u;

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
  return x;
}

