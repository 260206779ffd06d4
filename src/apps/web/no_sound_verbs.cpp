// The module for texts: its models hear and say nothing.
#include "apps/web/verbs.h"

namespace tokamak::web {
namespace {

Result<Json> refuse(State& state) {
  TOK_TRY(const Engine* const engine, open_engine(state));
  return unsupported("{} is a {}, which knows no sound.", engine->files().name,
                     engine->compiled().facts.architecture);
}

}  // namespace

Result<Json> transcribe(State& state, const Json&) {
  return refuse(state);
}

Result<Json> codec(State& state, const Json&) {
  return refuse(state);
}

Result<Json> speak(State& state, const Json&) {
  return refuse(state);
}

Result<Json> talk_begin(State& state, const Json&) {
  return refuse(state);
}

Result<Json> talk_listen(State& state, const Json&) {
  return refuse(state);
}

Result<Json> talk_heard(State& state, const Json&) {
  return refuse(state);
}

Result<Json> talk_answer(State& state, const Json&) {
  return refuse(state);
}

}  // namespace tokamak::web
