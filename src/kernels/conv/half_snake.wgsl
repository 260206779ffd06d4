// Contract: half_snake.h. The first SNAKES columns have rates.
const INVERSE_PI = 0.3183098861837907;

// sin²(π t): t less its nearest whole number, then the terms of the sine up to the eleventh power.
fn squared_sine_of_turns(t: f32) -> f32 {
  let turn = t - round(t);
  let u = turn * turn;
  var p = -0.0073704309;
  p = p * u + 0.0821458866;
  p = p * u - 0.5992645293;
  p = p * u + 2.5501640399;
  p = p * u - 5.1677127800;
  p = p * u + 3.1415926536;
  let sine = p * turn;
  return sine * sine;
}

fn half_snake(value: f32, column: u32) -> f32 {
  if (column >= SNAKES) {
    return select(value, 0.01 * value, value < 0.0);
  }
  let rate = rates[column];
  return value + squared_sine_of_turns(rate * value * INVERSE_PI) / (rate + 1e-9);
}
