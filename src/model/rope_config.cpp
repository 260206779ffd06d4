#include "model/rope_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tokamak {
namespace {

std::string rope_type(ConfigReader& parameters) {
  return parameters.word("rope_type", parameters.word("type", "default"));
}

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

/// Frequency i is theta^(-2i / head_dim) / factors[i], rounded to f32 where the reference does.
std::vector<float> divided(double theta, uint32_t head_dim, const std::vector<double>& factors) {
  std::vector<float> frequencies;
  for (size_t i = 0; i < factors.size(); ++i) {
    const float power = float(std::pow(theta, double(2.0f * float(i) / float(head_dim))));
    frequencies.push_back(1.0f / (float(factors[i]) * power));
  }
  return frequencies;
}

/// Only the first part of a head's pairs turns, with the frequencies they have in a whole head; the
/// others have none (_compute_proportional_rope_parameters).
void keep_part(ConfigReader& parameters, RopeTable& table, uint32_t head_dim) {
  const double part = parameters.positive("partial_rotary_factor", 1.0);
  const double factor = parameters.positive("factor", 1.0);
  if (part > 1.0) {
    parameters.reject(
        {ErrorCode::kInvalidInput, fmt::format("{} is {}, expected at most 1.",
                                               parameters.path("partial_rotary_factor"), part)});
    return;
  }
  const size_t turned = size_t(part * double(head_dim) / 2);
  for (size_t i = 0; i < table.inverse_frequencies.size(); ++i) {
    float& frequency = table.inverse_frequencies[i];
    frequency = i < turned ? float(double(frequency) / factor) : 0.0f;
  }
}

/// A number above 0; 0 says as little as silence does.
double positive_or(ConfigReader& parameters, std::string_view name, double otherwise) {
  const Json* value = parameters.find(name);
  const bool unset = value != nullptr && value->is_number() && value->as_number() == 0;
  return unset ? otherwise : parameters.positive(name, otherwise);
}

/// Frequencies that turn more than beta_fast times within the original positions are kept, those
/// that turn less than beta_slow times divided by `factor`, those between blended; cos and sin are
/// scaled by attention_factor (_compute_yarn_parameters).
void scale_yarn(ConfigReader& parameters, double theta, uint32_t head_dim, uint32_t& max_positions,
                RopeTable& table) {
  const double original = parameters.size("original_max_position_embeddings", max_positions);
  const double factor = parameters.positive("factor", double(max_positions) / original);
  max_positions = uint32_t(std::clamp(factor * original, double(max_positions), double(INT32_MAX)));
  const double fast = positive_or(parameters, "beta_fast", 32);
  const double slow = positive_or(parameters, "beta_slow", 1);
  const double above = positive_or(parameters, "mscale", 0);
  const double below = positive_or(parameters, "mscale_all_dim", 0);
  const double magnitude = above != 0 && below != 0
                               ? yarn_magnitude(factor, above) / yarn_magnitude(factor, below)
                               : yarn_magnitude(factor, 1);
  table.factor = float(parameters.positive("attention_factor", magnitude));
  if (fast < slow || theta <= 1) {
    const bool is_theta = theta <= 1;
    parameters.reject({ErrorCode::kInvalidInput,
                       fmt::format("{} is {}, expected {} with rope_type \"yarn\".",
                                   parameters.path(is_theta ? "rope_theta" : "beta_fast"),
                                   is_theta ? theta : fast,
                                   is_theta ? std::string("more than 1")
                                            : fmt::format("at least beta_slow ({})", slow))});
    return;
  }
  const auto pair_turning = [&](double turns) {
    return double(head_dim) * std::log(original / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(theta));
  };
  double first = pair_turning(fast), last = pair_turning(slow);
  if (parameters.flag("truncate", true)) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, double(head_dim) - 1);
  if (first == last) last += 0.001;
  const std::vector<float> divided_frequencies =
      divided(theta, head_dim, std::vector<double>(head_dim / 2, factor));
  for (size_t i = 0; i < table.inverse_frequencies.size(); ++i) {
    const float ramp = std::clamp((float(i) - float(first)) / float(last - first), 0.0f, 1.0f);
    float& frequency = table.inverse_frequencies[i];
    frequency = divided_frequencies[i] * ramp + frequency * (1.0f - ramp);
  }
}

}  // namespace

double yarn_magnitude(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

ConfigReader rope_fields(const ConfigReader& config) {
  const Json* scaling = config.find("rope_scaling");
  const bool is_older = scaling != nullptr && *scaling != Json(Json::Object{});
  return config.at(is_older ? "rope_scaling" : "rope_parameters");
}

double read_rope_field(ConfigReader& config, std::string_view name, double otherwise) {
  ConfigReader newer = config.at("rope_parameters");
  const double value = config.positive(name, newer.positive(name, otherwise));
  config.adopt(newer.status());
  return value;
}

Json overwritten(const Json* fields, const Json& by) {
  Json::Object all = by.as_object();
  if (fields == nullptr) return all;
  for (const auto& field : fields->as_object()) {
    if (by.find(field.first) == nullptr) all.push_back(field);
  }
  return all;
}

RopeTable read_longrope(ConfigReader& parameters, double theta, uint32_t head_dim,
                        uint32_t original, uint32_t max_positions) {
  theta = parameters.positive("rope_theta", theta);
  const uint32_t half = head_dim / 2;
  RopeTable table{
      .inverse_frequencies = divided(theta, head_dim, parameters.positives("long_factor", half)),
      .short_rows = original,
      .short_frequencies = divided(theta, head_dim, parameters.positives("short_factor", half))};
  const double ratio = parameters.positive("factor", double(max_positions) / double(original));
  const double scale =
      ratio <= 1.0 ? 1.0 : std::sqrt(1.0 + std::log(ratio) / std::log(double(original)));
  table.factor = float(parameters.positive("attention_factor", scale));
  return table;
}

RopeTable read_rope(ConfigReader& parameters, double theta, uint32_t head_dim,
                    uint32_t& max_positions) {
  theta = parameters.positive("rope_theta", theta);
  RopeTable table{.inverse_frequencies =
                      divided(theta, head_dim, std::vector<double>(head_dim / 2, 1.0))};
  const std::string type = rope_type(parameters);
  if (type == "linear") {
    const double factor = parameters.positive("factor");
    for (float& frequency : table.inverse_frequencies) {
      frequency = float(double(frequency) / factor);
    }
  } else if (type == "llama3") {
    scale_llama3(parameters, table);
  } else if (type == "explicit") {
    const std::vector<double> divisors = parameters.positives("divisors", head_dim / 2);
    for (size_t i = 0; i < divisors.size(); ++i) {
      float& frequency = table.inverse_frequencies[i];
      frequency = float(double(frequency) / divisors[i]);
    }
  } else if (type == "proportional") {
    keep_part(parameters, table, head_dim);
  } else if (type == "yarn") {
    scale_yarn(parameters, theta, head_dim, max_positions, table);
  } else if (type != "default" && type != "mrope") {
    parameters.reject({ErrorCode::kUnsupported,
                       fmt::format("{} is \"{}\"; this engine knows default, linear, llama3, "
                                   "proportional and yarn.",
                                   parameters.path("rope_type"), type)});
  }
  return table;
}

Result<uint32_t> rotary_size(const ConfigReader& config, double part, uint32_t head_dim) {
  const double size = part <= 1.0 ? double(head_dim) * part : 0.0;
  const uint32_t whole = uint32_t(size);
  if (whole != 0 && whole % 2 == 0) return whole;
  return invalid_input("{} is {}, which turns {} of {} elements; expected an even number of them.",
                       config.path("partial_rotary_factor"), part, whole, head_dim);
}

}  // namespace tokamak
