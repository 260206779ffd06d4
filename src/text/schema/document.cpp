#include "text/schema/document.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/percent.h"

namespace tokamak::schema {
namespace {

std::string unescaped(std::string_view part) {
  std::string text;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '~' && i + 1 < part.size()) {
      text += part[++i] == '1' ? '/' : '~';
    } else {
      text += part[i];
    }
  }
  return text;
}

using Content = Document::Content;

/// The content of a keyword's value.
Content content_of(std::string_view keyword) {
  constexpr std::array<std::string_view, 7> kByName = {
      "properties",   "patternProperties", "$defs",       "definitions",
      "dependencies", "dependentSchemas",  "$definitions"};
  constexpr std::array<std::string_view, 16> kSchemas = {"items",
                                                         "prefixItems",
                                                         "additionalItems",
                                                         "additionalProperties",
                                                         "contains",
                                                         "not",
                                                         "if",
                                                         "then",
                                                         "else",
                                                         "allOf",
                                                         "anyOf",
                                                         "oneOf",
                                                         "propertyNames",
                                                         "unevaluatedItems",
                                                         "unevaluatedProperties",
                                                         "contentSchema"};
  if (std::ranges::find(kByName, keyword) != kByName.end()) return Content::kSchemasByName;
  return std::ranges::find(kSchemas, keyword) != kSchemas.end() ? Content::kSchema
                                                                : Content::kOther;
}

/// RFC 3986, section 5.2, for what identifiers of schemas use.
std::string joined(const std::string& base, const std::string& reference) {
  const std::string_view own = reference;
  const size_t colon = own.find(':'), slash = own.find_first_of("/?#");
  if (colon != own.npos && (slash == own.npos || colon < slash)) return reference;
  const std::string root = base.substr(0, base.find('#'));
  if (own.empty() || own.starts_with('#')) return root + reference;
  const size_t scheme = root.find("://");
  const size_t host_end =
      scheme == root.npos ? 0 : std::min(root.find('/', scheme + 3), root.size());
  if (own.starts_with('/')) return root.substr(0, host_end) + reference;
  const size_t last = root.rfind('/');
  if (last == root.npos || last < host_end) {
    return root.substr(0, host_end) + (host_end > 0 ? "/" : "") + reference;
  }
  return root.substr(0, last + 1) + reference;
}

std::string without_empty_fragment(std::string uri) {
  if (uri.ends_with('#')) uri.pop_back();
  return uri;
}

Draft draft_of(const Json& root) {
  const Json* named = root.find("$schema");
  if (named == nullptr || !named->is_string()) return Draft::k2020;
  const std::string& uri = named->as_string();
  if (uri.find("draft-03") != uri.npos || uri.find("draft-04") != uri.npos) return Draft::k4;
  if (uri.find("draft-06") != uri.npos) return Draft::k6;
  if (uri.find("draft-07") != uri.npos) return Draft::k7;
  if (uri.find("2019-09") != uri.npos) return Draft::k2019;
  return Draft::k2020;
}

}  // namespace

std::string pointer_part(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

Result<Document> Document::parse(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return invalid_input("The JSON schema has {} bytes; at most {} are read.", text.size(),
                         kMaxTextBytes);
  }
  Document made;
  TOK_TRY(Json json, Json::parse(text));
  if (!json.is_object() && !json.is_bool()) {
    return invalid_input("A JSON schema is an object, true or false, but this is {}.",
                         kind_name(json.kind()));
  }
  made.text_ = std::make_unique<const Json>(std::move(json));
  made.draft_ = draft_of(*made.text_);
  made.targets_.emplace("", Target{made.text_.get(), "#"});
  TOK_TRY(made.index(*made.text_, "#", 0, 0, Content::kSchema));
  made.node_of(*made.text_, "#", 0);
  return made;
}

/// Finds identifiers and anchors, which change what references mean. They count only where schemas
/// may stand; everything is looked at for its depth.
Result<void> Document::index(const Json& json, const std::string& place, uint32_t base,
                             uint32_t depth, Content content) {
  if (depth > 2 * kMaxDepth) {
    return unsupported("{}: A schema of more than {} levels is not supported.", place, kMaxDepth);
  }
  if (json.is_array()) {
    size_t i = 0;
    for (const Json& one : json.as_array()) {
      TOK_TRY(index(one, fmt::format("{}/{}", place, i++), base, depth + 1, content));
    }
  }
  if (!json.is_object()) return {};
  if (content == Content::kSchema) {
    base = find_names(json, place, base);
    base_of_.emplace(&json, base);
  }
  for (const auto& [name, value] : json.as_object()) {
    if (name.starts_with('\1')) {  // names of ours begin so
      return unsupported("{}: The name {} is not supported.", place, shown(Json(name)));
    }
    const Content inner = content == Content::kSchema          ? content_of(name)
                          : content == Content::kSchemasByName ? Content::kSchema
                                                               : Content::kOther;
    TOK_TRY(index(value, fmt::format("{}/{}", place, pointer_part(name)), base, depth + 1, inner));
  }
  return {};
}

/// Identifiers and anchors of one schema. Gives the base of what is in it.
uint32_t Document::find_names(const Json& json, const std::string& place, uint32_t base) {
  const bool is_reference = draft_ <= Draft::k7 && json.find("$ref") != nullptr;
  const Json* id = json.find(draft_ == Draft::k4 ? "id" : "$id");
  if (id != nullptr && id->is_string() && !is_reference) {
    const std::string uri = without_empty_fragment(joined(bases_[base], id->as_string()));
    targets_.try_emplace(uri, Target{&json, place});
    if (uri.find('#') == uri.npos) {
      bases_.push_back(uri);
      base = uint32_t(bases_.size() - 1);
    }
  }
  for (const char* name : {"$anchor", "$dynamicAnchor"}) {
    const Json* anchor = json.find(name);
    if (anchor == nullptr || !anchor->is_string()) continue;
    targets_.try_emplace(bases_[base] + "#" + anchor->as_string(), Target{&json, place});
    if (name[1] == 'd') ++dynamic_anchors_[anchor->as_string()];
  }
  if (json.find("$recursiveAnchor") != nullptr) ++dynamic_anchors_[""];
  return base;
}

SchemaId Document::node_of(const Json& json, std::string place, uint32_t base) {
  const auto [known, is_new] = index_.try_emplace(&json, SchemaId(nodes_.size()));
  if (is_new) {
    const auto own = base_of_.find(&json);
    nodes_.push_back({&json, std::move(place), own == base_of_.end() ? base : own->second});
  }
  return known->second;
}

const Json* Document::keyword(SchemaId id, std::string_view name) const {
  const Json& own = json(id);
  if (!own.is_object()) return nullptr;
  if (draft_ <= Draft::k7 && name != "$ref" && own.find("$ref") != nullptr) return nullptr;
  return own.find(name);
}

SchemaId Document::child(SchemaId parent, const Json& json, std::string_view path) {
  return node_of(json, fmt::format("{}/{}", place(parent), path), nodes_[size_t(parent)].base);
}

SchemaId Document::add(SchemaId origin, Json json) {
  added_.push_back(std::move(json));
  return node_of(added_.back(), place(origin), nodes_[size_t(origin)].base);
}

Result<SchemaId> Document::resolve(SchemaId from, const std::string& reference) {
  const std::string uri =
      without_empty_fragment(joined(bases_[nodes_[size_t(from)].base], reference));
  const auto known = targets_.find(uri);
  if (known != targets_.end()) return node_of(*known->second.json, known->second.place, 0);
  const size_t hash = uri.find('#');
  const auto resource = targets_.find(uri.substr(0, hash));
  if (resource == targets_.end()) {
    return refused(from, fmt::format("$ref to \"{}\", which is outside of the schema,", reference));
  }
  const std::string pointer = hash == uri.npos ? "" : percent_decoded(uri.substr(hash + 1));
  if (!pointer.empty() && pointer[0] != '/') {
    return invalid(from,
                   fmt::format("$ref leads to \"{}\", but there is no such anchor", reference));
  }
  const Json* at = resource->second.json;
  std::string place = resource->second.place;
  std::string_view rest = pointer;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string part = unescaped(rest.substr(0, end));
    rest = rest.substr(end);
    place += "/" + pointer_part(part);
    size_t number = 0;
    if (at->is_array() &&
        std::from_chars(part.data(), part.data() + part.size(), number).ptr ==
            part.data() + part.size() &&
        number < at->as_array().size()) {
      at = &at->as_array()[number];
    } else {
      at = at->find(part);
    }
    if (at == nullptr) {
      return invalid(from,
                     fmt::format("$ref leads to \"{}\", but there is no such place", reference));
    }
  }
  return node_of(*at, std::move(place), nodes_[size_t(from)].base);
}

bool Document::is_static(const std::string& reference) const {
  const std::string name = reference.substr(
      std::min(reference.find('#'), std::max(reference.size(), size_t{1}) - 1) + 1);
  const auto known = dynamic_anchors_.find(name);
  return known == dynamic_anchors_.end() || known->second <= 1;
}

Failure Document::refused(SchemaId id, std::string_view what) const {
  return unsupported("{}: {} is not supported.", place(id), what);
}

Failure Document::invalid(SchemaId id, std::string_view what) const {
  return invalid_input("{}: {}.", place(id), what);
}

}  // namespace tokamak::schema
