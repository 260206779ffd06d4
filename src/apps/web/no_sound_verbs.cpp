// The module for texts: its models hear nothing.
#include "apps/web/verbs.h"

namespace tokamak::web {

Result<Json> transcribe(State& state, const Json&) {
  TOK_TRY(const Engine* const engine, open_engine(state));
  return unsupported("{} is a {}, which hears nothing.", engine->files().name,
                     engine->compiled().facts.architecture);
}

}  // namespace tokamak::web
