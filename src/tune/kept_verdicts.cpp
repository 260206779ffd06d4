#include "tune/kept_verdicts.h"

#include "base/json.h"
#include "kernels/sources.h"

namespace tokamak {

Result<WrongVariants> find_wrong_kernels(Backend& backend, const Plan& plan,
                                         const NoteStore& notes) {
  const DeviceInfo& device = backend.device();
  const std::string name = fmt::format("verdicts {} {} {} {}", device.name, device.driver,
                                       features_text(device.features), kernel_sources_hash());
  Verdicts known;
  const auto kept = Json::parse(notes.read(name).value_or("{}"));
  if (kept && kept->is_object()) {
    for (const auto& [program, verdict] : kept->as_object()) {
      if (verdict.is_string()) known[program] = verdict.as_string();
    }
  }
  const size_t count = known.size();
  TOK_TRY(known, test_plan(backend, plan, std::move(known)));
  if (known.size() != count) {
    Json verdicts(Json::Object{});
    for (const auto& [program, verdict] : known) verdicts.set(program, verdict);
    notes.write(name, verdicts.dump());
  }
  return wrong_variants(plan, known);
}

}  // namespace tokamak
