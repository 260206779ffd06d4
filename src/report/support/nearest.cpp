#include "report/support/nearest.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "report/support/config_fields.h"
#include "report/support/wished_model.h"

namespace tokamak {
namespace {

/// "model.layers.*.mlp.gate" for "model.layers.17.mlp.gate".
std::string without_numbers(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size();) {
    const size_t end = std::min(name.find('.', i), name.size());
    const std::string_view part = name.substr(i, end - i);
    const bool is_number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    out += is_number ? "*" : part;
    if (end < name.size()) out += '.';
    i = end + 1;
  }
  return out;
}

/// Packed matrices have other shapes, and those that are not read have no tensor.
bool fits(const TensorFile& file, const Wishes::Names& promised, const TensorInfo& wish) {
  const TensorInfo* found = file.find(wish.name);
  if (found != nullptr && is_float_weight(found->dtype)) {
    return found->elements() == wish.elements();
  }
  return found != nullptr || promised.contains(wish.name);
}

Nearest compare(const Architecture& architecture, const ConfigReader& config,
                const TensorFile& file, const Wishes::Names& promised) {
  const WishedModel model = wished_model(architecture, config, promised);
  Nearest out{.architecture = &architecture, .config_error = model.error.message};
  for (const TensorInfo& wish : model.tensors) {
    ++out.wished;
    out.found += fits(file, promised, wish) ? 1 : 0;
  }
  const auto is_wished = [&](const std::string& name) {
    return std::ranges::binary_search(model.tensors, name, {}, &TensorInfo::name);
  };
  std::set<std::string> unknown;
  for (const std::string& name : promised) {
    // The parts of a packed matrix stand beside its plain name.
    const bool is_part = is_wished(name.substr(0, name.rfind('.')) + ".weight");
    if (!is_wished(name) && !is_part) unknown.insert(without_numbers(name));
  }
  out.unknown.assign(unknown.begin(), unknown.end());
  return out;
}

/// How much both have in common, from 0 to 1.
double likeness(const Nearest& one, size_t tensors) {
  return double(one.found) / double(std::max<size_t>(one.wished + tensors - one.found, 1));
}

/// The equal that model_type names, that takes the config and that reads most of its fields.
Nearest& best_for(const Json& config, const Wishes::Names& promised, std::vector<Nearest>& equals) {
  if (equals.size() == 1) return equals[0];
  const Json* type = config.find("model_type");
  const auto key = [&](const Nearest& one) {
    const bool is_named = type != nullptr && *type == Json(one.architecture->model_type);
    FieldTrials trials(*one.architecture, config, promised);
    return std::tuple(!is_named, !one.config_error.empty(), trials.unread().size());
  };
  std::vector<decltype(key(equals[0]))> keys;
  for (const Nearest& one : equals) keys.push_back(key(one));
  return equals[size_t(std::ranges::min_element(keys) - keys.begin())];
}

}  // namespace

Nearest nearest_architecture(const Json& config, const TensorFile& file,
                             const UnreadTensors& unread) {
  const ConfigReader reader(config, "config.json");
  const Wishes::Names promised = promised_names(file, unread);
  std::vector<Nearest> best;  // alike in the same degree
  double most = 0;
  for (const Architecture& architecture : architectures()) {
    Nearest one = compare(architecture, reader, file, promised);
    const double own = likeness(one, promised.size());
    if (own == 0 || own < most) continue;
    if (own > most) best.clear();
    most = own;
    best.push_back(std::move(one));
  }
  return best.empty() ? Nearest() : std::move(best_for(config, promised, best));
}

}  // namespace tokamak
