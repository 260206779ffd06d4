#include <cmath>

#include "model/arch/mamba2.h"
#include "model/decoder_fields.h"

namespace tokamak {
namespace {

/// The elements of a head: a number, or "auto" for what the others leave.
uint32_t read_scan_head(ConfigReader& config, uint32_t inner, uint32_t heads,
                        const ScanFields& fields) {
  const Json* const found = config.find(fields.head_dim);
  const bool is_left_open = found == nullptr || *found == Json("auto");
  const uint32_t size = is_left_open ? inner / heads : config.size(fields.head_dim);
  if (uint64_t{size} * heads != inner) {
    config.reject({ErrorCode::kInvalidInput,
                   fmt::format("{} is {}, which {} heads ({}) do not make {} elements of.",
                               config.path(fields.head_dim), size, heads, fields.heads, inner)});
  }
  return size;
}

/// time_step_limit: the least and the most length of a step.
void read_bounds(ConfigReader& config, Mamba2Config& c) {
  constexpr std::string_view kName = "time_step_limit";
  const Json* const bounds = config.find(kName);
  if (bounds == nullptr) return;
  const auto number = [&](size_t i) {
    return bounds->as_array()[i].is_number() ? bounds->as_array()[i].as_number() : -1.0;
  };
  if (!bounds->is_array() || bounds->as_array().size() != 2 || !(number(0) >= 0) ||
      !(number(1) >= number(0)) || number(1) == 0) {
    return config.reject({ErrorCode::kInvalidInput,
                          fmt::format("{} is not two rising numbers.", config.path(kName))});
  }
  c.delta_least = float(number(0));
  c.delta_most = std::isinf(number(1)) ? 0.0f : float(number(1));
}

}  // namespace

uint64_t read_inner(ConfigReader& config, uint32_t hidden) {
  const uint64_t expanded = uint64_t{config.size("mamba_expand", 2)} * hidden;
  return config.has("mamba_d_ssm") ? config.size("mamba_d_ssm") : expanded;
}

Result<void> read_scan(ConfigReader& config, Mamba2Config& c, uint64_t inner,
                       const ScanFields& fields) {
  constexpr uint32_t kMax = 65536, kMaxStates = 1024;
  c.scan_heads = config.size(fields.heads, 128);
  c.groups = config.size(fields.groups, 1);
  c.states = config.size(fields.states, 256);
  c.taps = read_taps(config, fields.taps, 4);
  c.conv_bias = config.flag(fields.conv_bias, true);
  c.in_bias = c.out_bias = config.flag(fields.bias, false);
  c.from_gguf = config.flag("mamba_as_gguf", false);
  TOK_TRY(config.status());
  if (inner > kMax || c.states > kMaxStates || uint64_t{c.groups} * c.states > kMax) {
    return invalid_input("{}: {} elements with {} groups of {} states are more than {} and {}.",
                         config.path(fields.heads), inner, c.groups, c.states, kMax, kMaxStates);
  }
  if (c.scan_heads % c.groups != 0) {
    return invalid_input("{} ({}) is not a multiple of {} ({}).", config.path(fields.heads),
                         c.scan_heads, fields.groups, c.groups);
  }
  c.scan_head_dim = read_scan_head(config, uint32_t(inner), c.scan_heads, fields);
  read_bounds(config, c);
  return config.status();
}

}  // namespace tokamak
