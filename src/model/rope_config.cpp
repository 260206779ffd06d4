#include "model/rope_config.h"

#include <cmath>
#include <numbers>

namespace tokamak {
namespace {

/// Low frequencies are divided by `factor`, high ones kept, those between blended
/// (_compute_llama3_parameters).
void scale_llama3(ConfigReader& parameters, RopeTable& table) {
  const double factor = parameters.positive("factor");
  const double low = parameters.positive("low_freq_factor");
  const double high = parameters.positive("high_freq_factor");
  const double original = parameters.size("original_max_position_embeddings");
  if (high <= low) {
    parameters.reject(
        {ErrorCode::kInvalidInput, fmt::format("{} is {}, expected more than low_freq_factor ({}).",
                                               parameters.path("high_freq_factor"), high, low)});
    return;
  }
  for (float& frequency : table.inverse_frequencies) {
    const double wavelength = 2 * std::numbers::pi / double(frequency);
    if (wavelength > original / low) {
      frequency = float(double(frequency) / factor);
    } else if (wavelength >= original / high) {
      const double smooth = (original / wavelength - low) / (high - low);
      frequency = float((1 - smooth) * double(frequency) / factor + smooth * double(frequency));
    }
  }
}

}  // namespace

RopeTable read_rope(ConfigReader& parameters, double theta, uint32_t head_dim) {
  theta = parameters.positive("rope_theta", theta);
  RopeTable table;
  for (uint32_t i = 0; i < head_dim / 2; ++i) {
    table.inverse_frequencies.push_back(
        float(1.0 / std::pow(theta, 2.0 * double(i) / double(head_dim))));
  }
  const std::string type = parameters.word("rope_type", parameters.word("type", "default"));
  if (type == "linear") {
    const double factor = parameters.positive("factor");
    for (float& frequency : table.inverse_frequencies) {
      frequency = float(double(frequency) / factor);
    }
  } else if (type == "llama3") {
    scale_llama3(parameters, table);
  } else if (type != "default") {
    parameters.reject({ErrorCode::kUnsupported,
                       fmt::format("{} is \"{}\"; this engine knows default, linear and llama3.",
                                   parameters.path("rope_type"), type)});
  }
  return table;
}

}  // namespace tokamak
