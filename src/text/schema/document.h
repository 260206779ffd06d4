// Document: the schemas in a JSON Schema, each with its place for messages, and what references
// lead to. Nothing outside of the document is ever read.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tokamak::schema {

enum class SchemaId : uint32_t {};

/// By the age of what they mean; older ones ignore what stands beside $ref.
enum class Draft : uint8_t { k4, k6, k7, k2019, k2020 };

class Document {
 public:
  static constexpr size_t kMaxTextBytes = size_t{1} << 20;
  static constexpr uint32_t kMaxDepth = 128;

  /// The content of a place: a schema or a list of some, schemas by name, or something else.
  enum class Content : uint8_t { kSchema, kSchemasByName, kOther };

  /// Errors: no JSON, or no schema; too long, too deep.
  static Result<Document> parse(std::string_view text);

  Draft draft() const { return draft_; }
  SchemaId root() const { return SchemaId(0); }
  const Json& json(SchemaId id) const { return *nodes_[size_t(id)].json; }
  /// "#/properties/a"
  const std::string& place(SchemaId id) const { return nodes_[size_t(id)].place; }

  /// The keyword's value; null where there is none, or where $ref makes it not count.
  const Json* keyword(SchemaId id, std::string_view name) const;
  /// A schema inside of another. `path` is added to its place: "properties/a".
  SchemaId child(SchemaId parent, const Json& json, std::string_view path);
  /// A schema that is not in the text, in the stead of `origin`.
  SchemaId add(SchemaId origin, Json json);
  /// The schema that a reference leads to.
  Result<SchemaId> resolve(SchemaId from, const std::string& reference);

  /// Whether a dynamic reference can mean one place only.
  bool is_static(const std::string& reference) const;

  Failure refused(SchemaId id, std::string_view what) const;
  Failure invalid(SchemaId id, std::string_view what) const;

 private:
  struct Node {
    const Json* json = nullptr;
    std::string place;
    uint32_t base = 0;
  };

  Result<void> index(const Json& json, const std::string& place, uint32_t base, uint32_t depth,
                     Content content);
  uint32_t find_names(const Json& json, const std::string& place, uint32_t base);
  SchemaId node_of(const Json& json, std::string place, uint32_t base);

  Draft draft_ = Draft::k2020;
  std::unique_ptr<const Json> text_;
  std::deque<Json> added_;
  std::vector<Node> nodes_;
  std::unordered_map<const Json*, SchemaId> index_;
  std::vector<std::string> bases_ = {""};
  std::unordered_map<const Json*, uint32_t> base_of_;
  std::unordered_map<std::string, uint32_t> dynamic_anchors_;  // how many there are of a name
  struct Target {
    const Json* json = nullptr;
    std::string place;
  };
  std::unordered_map<std::string, Target> targets_;  // by URI, with the anchor after #
};

/// A name as a part of a JSON pointer.
std::string pointer_part(std::string_view name);

}  // namespace tokamak::schema
