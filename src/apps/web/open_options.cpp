#include "apps/web/open_options.h"

#include <algorithm>
#include <bit>

#include "apps/web/fields.h"

namespace tokamak::web {
namespace {

constexpr double kMaxMegapixels = 1024;  // a number that fits; models have smaller limits

constexpr std::pair<std::string_view, Feature> kFeatures[] = {
    {"shader-f16", kFeatureF16},
    {"subgroups", kFeatureSubgroups},
    {"packed_4x8_integer_dot_product", kFeatureDot4}};

/// {features, subgroupSize}: a device of WebGPU's with these, and the limits that every one grants.
Result<DeviceInfo> assumed_device(const Json& json) {
  std::vector<std::string> names;
  DeviceInfo device{.backend = BackendKind::kWebGpu};
  uint32_t subgroup = 32;
  TOK_TRY(Fields(json).take("features", names).take("subgroupSize", subgroup).done());
  for (const std::string& name : names) {
    const auto found =
        std::ranges::find(kFeatures, name, &std::pair<std::string_view, Feature>::first);
    if (found == std::end(kFeatures)) {
      return fail(ErrorCode::kUsage, "\"device\": there is no feature \"{}\".", name);
    }
    device.features |= found->second;
  }
  if (!std::has_single_bit(subgroup) || subgroup < 4 || subgroup > 128) {
    return fail(ErrorCode::kUsage,
                "\"device\": \"subgroupSize\" is {}, expected a power of two from 4 to 128.",
                subgroup);
  }
  if ((device.features & kFeatureSubgroups) != 0) {
    device.subgroup_min = device.subgroup_max = subgroup;
  }
  device.name = fmt::format("an assumed device ({})", features_text(device.features));
  return device;
}

}  // namespace

Json::Array feature_names(Features features) {
  Json::Array names;
  for (const auto& [name, feature] : kFeatures) {
    if ((features & feature) != 0) names.emplace_back(name);
  }
  return names;
}

Result<Opening> read_opening(const Json& json) {
  Opening opening;
  OpenOptions& options = opening.options;
  Fields fields(json);
  const Json* const files = fields.find("files");
  const Json* const device = fields.find("device");
  double megapixels = 1;
  TOK_TRY(fields.take("name", opening.name)
              .take("backend", options.backend)
              .take("context", options.context)
              .take("sequences", options.sequences)
              .take("cacheTokens", options.cache_tokens)
              .take("kv", options.kv)
              .take("quantize", options.quantize)
              .take("pooling", options.pooling)
              .take("chunk", options.chunk)
              .take("selfTest", opening.self_test)
              .take("f16", options.use_f16)
              .take("subgroups", options.use_subgroups)
              .take("defaultLimits", options.default_limits)
              .take("submitDispatches", options.submit_dispatches)
              .take("megapixels", megapixels)
              .done());
  if (!(megapixels >= 0 && megapixels <= kMaxMegapixels)) {
    return fail(ErrorCode::kUsage, "\"megapixels\" is {}, expected 0 to {}.", megapixels,
                kMaxMegapixels);
  }
  options.image_pixels = uint64_t(megapixels * (1 << 20));
  options.needs_images = false;
  if (device != nullptr) {
    TOK_TRY(opening.assumed, assumed_device(*device));
  }
  if (files == nullptr) return opening;
  if (!files->is_array()) return fail(ErrorCode::kUsage, "\"files\" is no list.");
  for (const Json& one : files->as_array()) {
    HostFile& file = opening.files.emplace_back();
    Fields own(one);
    TOK_TRY(own.take("name", file.name).take("size", file.size).take("id", file.id).done());
  }
  return opening;
}

}  // namespace tokamak::web
