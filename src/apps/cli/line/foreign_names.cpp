#include "apps/cli/line/foreign_names.h"

#include <algorithm>
#include <initializer_list>
#include <span>

namespace tokamak::cli {
namespace {

struct Foreign {
  std::initializer_list<std::string_view> names;
  std::string_view meaning;
};

const Foreign kOptions[] = {
    {{"-ngl", "--n-gpu-layers", "--gpu-layers", "-ncmoe", "--n-cpu-moe"},
     "no layers stay on the processor; --max-memory SIZE bounds a GPU, --gpus 0,1 names several"},
    {{"-sm", "--split-mode", "-ts", "--tensor-split", "--tensor-parallel-size",
      "--pipeline-parallel-size"},
     "--gpus 0,1 are the devices that have a part each, --split ranks or layers which"},
    {{"-mg", "--main-gpu", "-dev"},
     "--device N chooses the device, as `tokamak doctor` numbers them"},
    {{"-t", "-tb", "--threads-batch", "--numa", "--prio", "--cpu-mask", "--poll"},
     "--threads N is how many --backend cpu has; nothing else of them is a setting"},
    {{"-fa", "--flash-attn", "--flash-attention"}, "attention is always computed in one pass"},
    {{"-b", "--batch-size", "-ub", "--ubatch-size", "--prefill-step-size"},
     "--chunk N is the largest step of a prompt (see --help-all)"},
    {{"-ctk", "-ctv", "--cache-type-k", "--cache-type-v", "--kv-bits"},
     "--kv f32, f16 or q8 is the type of the KV cache"},
    {{"-nkvo", "--no-kv-offload", "--mlock", "--no-mmap", "--mmap", "-dio", "--direct-io"},
     "weights are mapped and copied to the device; there is nothing to set"},
    {{"-cnv", "--conversation", "-i", "--interactive", "--interactive-first", "-no-cnv"},
     "`tokamak chat` is the conversation, `tokamak run` is none"},
    {{"--color", "--jinja", "--no-warmup", "--simple-io", "--log-disable", "--no-webui", "-cb",
      "--cont-batching"},
     "it is always so"},
    {{"-np", "--parallel", "--max-num-seqs"},
     "--max-sequences N is how many answers are generated at once"},
    {{"--embeddings", "--embedding", "--reranking", "--rerank", "--metrics", "--props"},
     "`tokamak serve` always answers these, where the model can"},
    {{"--no-display-prompt", "--verbose-prompt"},
     "--json has the prompt and the text apart, and --chat does not repeat it"},
    {{"--n-predict", "--predict", "--num-predict", "--num_predict", "--max_tokens",
      "--max-new-tokens", "--max_new_tokens"},
     "-n N is the most tokens to generate"},
    {{"--reverse-prompt", "--antiprompt", "--extra-eos-token", "--eos-token"},
     "--stop TEXT ends an answer"},
    {{"--grammar-file"}, "--grammar @FILE reads a file"},
    {{"-j", "--json-schema-file", "-jf", "--format-json"},
     "--json-schema FILE holds an answer to a schema"},
    {{"--mirostat", "--mirostat-lr", "--mirostat-ent", "--samplers", "--sampling-seq",
      "--dynatemp-range", "--top-nsigma", "--xtc-probability", "--xtc-threshold",
      "--dry-multiplier"},
     "sampling is by temperature, top-k, top-p, min-p, typical-p and penalties"},
    {{"--repeat-last-n", "--repetition-context-size"}, "--repeat-penalty counts the whole text"},
    {{"--lora-scaled", "--adapter-path", "--adapter"}, "--lora FOLDER=SCALE adds an adapter"},
    {{"--mmproj-auto", "--no-mmproj", "--mmproj-offload", "--no-mmproj-offload"},
     "a GGUF model's tower of images is found beside it; --mmproj FILE names another"},
    {{"--rope-scaling", "--rope-freq-base", "--rope-freq-scale", "--yarn-orig-ctx"},
     "positions are as the model's files say"},
    {{"--keep", "--context-shift", "--no-context-shift", "--cache-prompt", "--cache-reuse",
      "--prompt-cache", "--prompt-cache-all"},
     "what prompts have in common is kept by itself; /save and /load keep a chat"},
    {{"--num-ctx", "--num_ctx", "--max-kv-size", "--max-model-len", "--n-ctx"},
     "-c N is the context"},
    {{"--verbose", "--timings", "--perf"}, "-v shows tokens and speed"},
    {{"--keepalive"}, "--keep-alive TIME, of `tokamak serve`"},
    {{"--hidethinking", "--reasoning-format"}, "--think hide leaves reasoning out"},
    {{"--reasoning-budget", "--reasoning"}, "--think off, and --think-budget N"},
    {{"--nowordwrap", "--insecure", "--trust-remote-code", "--trust_remote_code"},
     "there is nothing to set: no code of a model runs"},
    {{"--draft-model", "-md", "--spec-draft-model"}, "--draft MODEL guesses ahead"},
    {{"--draft-max", "--num-draft-tokens", "--draft-min", "--draft-n"},
     "--speculate draft:N is how many tokens are guessed"},
    {{"--gpu-memory-utilization"}, "--max-memory 90% is the share of the device's memory"},
    {{"--served-model-name"}, "--alias NAME is how clients call it"},
    {{"--dtype", "--quantization", "--q-bits"},
     "--quantize q8 or q4 packs floats; else a model is as it is stored"},
    {{"-osrt", "-ovtt", "-otxt", "-oj", "-of", "--output-srt", "--output-vtt", "--output-txt",
      "--output-json", "--output_format"},
     "-o FILE writes a file, in the format of its ending; --format NAME is another"},
    {{"-tr", "--task"}, "--translate is into English"},
    {{"--kl-divergence", "--kl-divergence-base"},
     "`tokamak compare A B FILE` runs both models, and no file of logits lies between"},
};

const Foreign kCommands[] = {
    {{"show", "info"}, "`tokamak inspect MODEL` shows a model"},
    {{"stop", "unload"},
     "a server's models leave by --keep-alive TIME, or by /api/generate with \"keep_alive\": 0"},
    {{"ls", "models"}, "`tokamak list` shows which models are there"},
    {{"remove", "delete"}, "`tokamak rm MODEL` removes a model"},
    {{"download", "fetch"}, "`tokamak pull org/name` fetches a model"},
    {{"cp", "create", "push", "convert"},
     "models are used as they are: a folder, a .gguf file or org/name"},
    {{"generate", "complete", "cli"}, "`tokamak run MODEL -p TEXT` continues a text"},
    {{"server", "start", "api"}, "`tokamak serve MODEL` answers programs over HTTP"},
    {{"embedding", "embeddings"}, "`tokamak embed MODEL` makes vectors"},
    {{"detokenize"}, "`tokamak tokenize --decode` makes texts of ids"},
    {{"tts", "say"}, "`tokamak speak MODEL TEXT -o FILE` says a text"},
    {{"stt", "asr", "whisper"}, "`tokamak transcribe MODEL FILE` writes down what is said"},
    {{"evaluate", "eval"}, "`tokamak perplexity MODEL FILE` is how well a model predicts a text"},
    {{"login"}, "HF_TOKEN, or Hugging Face's own tools, log in to the hub"},
    {{"train", "finetune", "lora"}, "models are not trained here; --lora FOLDER adds an adapter"},
    {{"search"}, "`tokamak memory search` finds documents"},
    {{"completion"}, "there are no completions for shells"},
};

std::string_view meaning_of(std::string_view word, std::span<const Foreign> table) {
  for (const Foreign& one : table) {
    if (std::ranges::find(one.names, word) != one.names.end()) return one.meaning;
  }
  return {};
}

}  // namespace

std::string_view foreign_option(std::string_view word) {
  return meaning_of(word, kOptions);
}

std::string_view foreign_command(std::string_view word) {
  return meaning_of(word, kCommands);
}

}  // namespace tokamak::cli
