// Compiler: JSON Schema -> the states of a grammar, exactly or not at all.
//
// A goal is what a value must satisfy: some schemas, all of them. A goal falls apart into branches,
// sets of schemas in which nothing is left to choose: references are followed, anyOf and its like
// have one of their ways. A branch has what it allows for every type of value; a goal becomes a
// rule that is the union of its branches. See docs/decisions/0030-json-schema.md.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "text/grammar/state_builder.h"
#include "text/schema/document.h"
#include "text/schema/numbers.h"

namespace tokamak::schema {

using Goal = std::vector<SchemaId>;  // ascending

struct Branch {
  std::vector<SchemaId> schemas;
  std::vector<uint32_t> parents;  // of each, the one that it was reached from; kNoParent
  static constexpr uint32_t kNoParent = UINT32_MAX;

  /// Whether schema `i` was reached from `owner`, or is it.
  bool is_below(size_t i, size_t owner) const {
    while (i != owner && parents[i] != kNoParent) i = parents[i];
    return i == owner;
  }
};

enum TypeBits : uint8_t {
  kNullType = 1,
  kBooleanType = 2,
  kNumberType = 4,
  kStringType = 8,
  kArrayType = 16,
  kObjectType = 32,
  kAllTypes = 63,
};

/// The values without parts that a branch allows. A set that is not given allows all of its type.
struct Scalars {
  uint8_t types = kAllTypes;  // arrays and objects included
  bool has_true = true, has_false = true;
  bool integers_only = false;
  std::optional<Automaton> numbers, strings;
  uint32_t min_length = 0, max_length = Grammar::kNoLimit;
};

class Compiler {
 public:
  explicit Compiler(Document& document);

  /// Errors name the keyword and its place: what cannot be held, a schema that no value satisfies.
  Result<Grammar> compile(std::string source);

 private:
  static constexpr size_t kMaxBranches = 256, kMaxRules = 20000, kMaxSteps = 300000,
                          kMaxNesting = 64;

  // Goals and branches: branches.cpp, negation.cpp.
  struct Partial;
  struct Ways;
  Result<std::vector<Branch>> branches(const Goal& goal);
  Result<std::vector<Branch>> expanded(Partial start);
  Result<Ways> ways(SchemaId id, const Partial& partial);
  Result<void> add_conditions(SchemaId id, Ways& ways);
  Result<void> add_one_of(SchemaId id, const Partial& partial, Ways& ways);
  Result<void> add_values(SchemaId id, Ways& ways);
  Result<std::vector<SchemaId>> list_of(SchemaId id, std::string_view name);
  Result<bool> is_never(const Goal& goal, uint32_t depth);
  Result<bool> is_never(const Branch& branch, uint32_t depth);
  Result<std::vector<SchemaId>> negated(SchemaId id);
  Result<void> negate_type(SchemaId id, std::vector<SchemaId>& out);
  Result<void> negate_count(SchemaId id, const std::string& name, std::vector<SchemaId>& out);
  Result<void> negate_keyword(SchemaId id, const std::string& name, const Json& value,
                              std::vector<SchemaId>& out);
  SchemaId structure(SchemaId origin, const Json& value);
  Result<uint8_t> types_of(SchemaId id, bool& integers_only);
  Result<void> spend(SchemaId id, size_t steps = 1);
  /// For messages.
  SchemaId place_of(const Branch& branch) const {
    return branch.schemas.empty() ? document_.root() : branch.schemas.front();
  }

  // Values without parts: scalars.cpp.
  Result<Scalars> scalars(const Branch& branch);
  Result<void> narrow_numbers(SchemaId id, Scalars& own);
  Result<void> narrow_strings(SchemaId id, Scalars& own);
  Result<void> narrow_to_values(SchemaId id, Scalars& own);
  Result<Automaton> pattern(SchemaId id, const std::string& expression);
  Result<std::optional<uint64_t>> count(SchemaId id, std::string_view name);
  Result<void> narrow(SchemaId id, std::string_view name, std::optional<Automaton>& set,
                      grammar::AutomatonOr other);
  void add_scalars(const Scalars& own, std::vector<uint32_t>& begins);

  // Objects: objects.cpp, names.cpp.
  struct Member {
    std::string name;
    Goal goal;
    bool is_required = false;
  };
  struct Names {
    std::optional<Automaton> set;  // not given: all
    Goal goal;
  };
  struct Object {
    std::vector<Member> members;
    std::vector<Names> others;
    uint64_t least = 0, most = UINT64_MAX;
    bool is_never = false;
  };
  Result<Object> object(const Branch& branch, uint32_t depth);
  Result<Goal> member_goal(const Branch& branch, const std::string& name);
  Result<std::optional<Automaton>> name_limits(const Branch& branch);
  Result<std::vector<Names>> other_names(const Branch& branch, const std::vector<Member>& members,
                                         const std::optional<Automaton>& limits);
  Result<uint32_t> object_rule(const Branch& branch);
  uint32_t object_states(const Object& own);

  // Arrays: arrays.cpp.
  struct Array {
    std::vector<Goal> prefix;
    Goal rest;
    uint64_t least = 0, most = UINT64_MAX;
    std::optional<SchemaId> contains;
    uint64_t least_contained = 0, most_contained = UINT64_MAX;
    bool is_unique = false;
    const Goal& item(uint64_t i) const { return i < prefix.size() ? prefix[size_t(i)] : rest; }
  };
  Result<Array> array(const Branch& branch, uint32_t depth);
  Result<Goal> item_goal(const Branch& branch, std::optional<size_t> place);
  Result<void> add_contains(SchemaId id, Array& own);
  Result<uint32_t> array_rule(const Branch& branch);
  Result<uint32_t> containing(const Branch& branch, const Array& own);
  Result<uint32_t> distinct(const Branch& branch, const Array& own);
  Result<std::vector<std::string>> values_of(SchemaId place, const Goal& goal);

  // Rules: rules.cpp.
  uint32_t rule(const Goal& goal);
  Result<uint32_t> branch_begin(const Branch& branch);
  void make_shared_rules();
  uint32_t quoted(std::string_view text, uint32_t next);
  uint32_t string_of(const std::optional<Automaton>& set, uint32_t least, uint32_t most,
                     uint32_t next);
  uint32_t space(uint32_t next) { return states_.call(space_, next); }
  uint32_t separator(uint32_t next) { return states_.byte(',', ',', space(next)); }

  Document& document_;
  grammar::StateBuilder states_;
  uint32_t end_ = 0, space_ = 0, character_ = 0, string_ = 0, number_ = 0, integer_ = 0;
  std::map<Goal, uint32_t> rules_;
  std::vector<Goal> open_;  // goals whose rules are not made yet
  std::map<Goal, std::vector<Branch>> branches_;
  std::map<Goal, bool> never_;
  std::map<std::string, Automaton> patterns_;
  std::map<std::vector<uint32_t>, uint32_t> string_rules_;  // by their automata
  std::map<SchemaId, std::vector<SchemaId>> negations_;
  std::set<SchemaId> opposites_;  // what these have evaluated counts for nothing
  std::set<SchemaId> negating_;
  size_t steps_ = 0, nesting_ = 0;
};

}  // namespace tokamak::schema
