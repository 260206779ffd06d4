// The module for texts: it embeds and quotes, and keeps no memories.
#include "apps/web/verbs.h"

namespace tokamak::web {
namespace {

Result<Json> refuse() {
  return fail(ErrorCode::kUsage, "The model was opened without `memory: true`.");
}

}  // namespace

Result<Json> memory_add(State&, const Json&) {
  return refuse();
}

Result<Json> memory_export(State&, const Json&) {
  return refuse();
}

Result<Json> memory_forget(State&, const Json&) {
  return refuse();
}

Result<Json> memory_import(State&, const Json&) {
  return refuse();
}

Result<Json> memory_list(State&, const Json&) {
  return refuse();
}

Result<Json> memory_rebuild(State&, const Json&) {
  return refuse();
}

Result<Json> memory_search(State&, const Json&) {
  return refuse();
}

}  // namespace tokamak::web
