#include "engine/files/hints.h"

#include <algorithm>
#include <vector>

#include "base/nearest.h"
#include "graph/kv_cache.h"

namespace tokamak {
namespace {

constexpr std::string_view kNames[] = {"kv", "kernels"};
constexpr std::string_view kCacheTypes = "\"f32\", \"f16\" or \"q8\"";
/// For one op; there are not that many variants.
constexpr size_t kMaxVariants = 64;

Failure wrong_kind(std::string_view name, const Json& found, std::string_view expected) {
  return invalid_input("{} is {}, expected {}.", name, kind_name(found.kind()), expected);
}

Result<void> check_names(const Json& json) {
  std::vector<std::string_view> seen;
  for (const auto& [name, value] : json.as_object()) {
    if (!std::ranges::count(kNames, name)) {
      return invalid_input("\"{}\" is not known here{}; known are kv and kernels.", name,
                           did_you_mean(name, kNames));
    }
    if (std::ranges::count(seen, name)) return invalid_input("\"{}\" occurs twice.", name);
    seen.push_back(name);
  }
  return {};
}

Result<std::string> read_kv(const Json& value) {
  if (!value.is_string()) return wrong_kind("kv", value, kCacheTypes);
  const std::string& type = value.as_string();
  if (!cache_type_from_name(type)) {
    return invalid_input("kv is \"{}\", expected {}.", type, kCacheTypes);
  }
  return type;
}

Result<void> add_kernels(std::string_view op, const Json& value, ForcedVariants& out) {
  const std::string name = fmt::format("kernels.{}", op);
  const Json::Array one = {value};
  const Json::Array& list = value.is_array() ? value.as_array() : one;
  if (list.empty() || list.size() > kMaxVariants) {
    return invalid_input("{} has {} entries, expected 1 to {}.", name, list.size(), kMaxVariants);
  }
  for (const Json& variant : list) {
    if (!variant.is_string()) {
      return wrong_kind(name, variant, "the name of a kernel or a list of names");
    }
    out.emplace(op, variant.as_string());
    // One at a time, so that a long list of nonsense ends at once.
    const Result<void> known = check_variants({{std::string(op), variant.as_string()}});
    if (!known) return invalid_input("kernels: {}", known.error().message);
  }
  return {};
}

Result<ModelHints> read(const Json& json) {
  if (!json.is_object()) return wrong_kind("The document", json, "an object");
  TOK_TRY(check_names(json));
  ModelHints hints{.present = true};
  if (const Json* kv = json.find("kv")) {
    TOK_TRY(hints.kv, read_kv(*kv));
  }
  const Json* kernels = json.find("kernels");
  if (kernels == nullptr) return hints;
  if (!kernels->is_object()) return wrong_kind("kernels", *kernels, "an object");
  for (const auto& [op, variants] : kernels->as_object()) {
    if (hints.kernels.contains(op)) return invalid_input("kernels.{} occurs twice.", op);
    TOK_TRY(add_kernels(op, variants, hints.kernels));
  }
  return hints;
}

}  // namespace

Result<ModelHints> read_hints(const std::optional<Json>& json, const std::string& where) {
  if (!json) return ModelHints{};
  auto hints = read(*json);
  if (!hints) return Failure(hints.error().within(where));
  return hints;
}

}  // namespace tokamak
