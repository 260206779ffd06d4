#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

Result<void> run_pull(const std::string& model) {
  TOK_TRY(const hub::ModelName name, hub::parse_model_name(model));
  TOK_TRY(const std::string path, fetch_model(name));
  return print(path + "\n");
}

}  // namespace

void add_pull(App& app, Action& action) {
  App* command = app.add_subcommand("pull", "fetch a model from a Hugging Face hub");
  command->footer(R"(Examples:
  tokamak pull org/name                   its texts and safetensors
  tokamak pull org/name@revision          of a branch, a tag or a commit
  tokamak pull org/name-GGUF:Q4_K_M       one .gguf file, by quantization or by name
  tokamak pull https://huggingface.co/org/name
  tokamak run org/name -p "Hello"         what was pulled goes by its name
Prints where it is. An interrupted pull goes on where it was, whatever interrupted it. Models are
kept where Hugging Face's own tools keep them, and each finds what the other has fetched:
HF_HUB_CACHE, HF_HOME, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE mean the same.)");
  auto model = std::make_shared<std::string>();
  add_model(*command, *model,
            "org/name[@revision][:file or quantization], or its address on the hub")
      ->required();
  command->callback([model, &action] { action = [model] { return run_pull(*model); }; });
}

}  // namespace tokamak::cli
