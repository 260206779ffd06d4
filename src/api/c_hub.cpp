#include "tokamak/c_hub.h"

#include "api/c_answers.h"
#include "base/json.h"
#include "tokamak/device.h"
#include "tokamak/hub.h"

using namespace tokamak;

namespace {

Json::Array list_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

Json json_of(const StoredModel& model) {
  Json out;
  out.set("name", model.name);
  out.set("commit", model.commit);
  out.set("revisions", list_of(model.revisions));
  out.set("folder", model.folder);
  out.set("files", list_of(model.files));
  out.set("bytes", model.bytes);
  out.set("partial_bytes", model.partial_bytes);
  out.set("missing", model.missing);
  return out;
}

Json json_of(const DeviceDetails& device) {
  Json out;
  out.set("backend", device.backend);
  out.set("number", device.number);
  out.set("name", device.name);
  out.set("driver", device.driver);
  out.set("is_software", device.is_software);
  return out;
}

template <typename T>
std::string json_list(const std::vector<T>& all) {
  Json::Array list;
  for (const T& one : all) list.push_back(json_of(one));
  return Json(std::move(list)).dump();
}

static_assert(int(TOKAMAK_PULL_CHECK) == int(PullStage::kCheck));

}  // namespace

char* tokamak_list_devices(tokamak_error** error) {
  return value_or_error(error, [] { return text_for_caller(json_list(list_devices().devices)); });
}

char* tokamak_list_models(tokamak_error** error) {
  return value_or_error(error, []() -> Result<char*> {
    TOK_TRY(const std::vector<StoredModel> models, list_models());
    return text_for_caller(json_list(models));
  });
}

char* tokamak_locate_model(const char* model, tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<char*> {
    TOK_TRY(const std::string path, locate_model(std::string(text_or_empty(model))));
    return text_for_caller(path);
  });
}

char* tokamak_pull_model(const char* name, tokamak_pull_progress progress, void* user,
                         tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<char*> {
    PullOptions options;
    if (progress != nullptr) {
      options.progress = [=](const PullProgress& own) {
        return progress(user, tokamak_pull_stage(own.stage), own.text.c_str(), own.done, own.total);
      };
    }
    TOK_TRY(const PulledModel pulled, pull_model(text_or_empty(name), options));
    return text_for_caller(pulled.path);
  });
}
