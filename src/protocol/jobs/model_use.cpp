#include "protocol/jobs/model_use.h"

namespace tokamak::protocol {
namespace {

std::string_view use_of(const Engine::Compiled& compiled) {
  if (compiled.facts.hears) return "writes down recordings (/v1/audio/transcriptions)";
  if (compiled.facts.speaks) return "says texts (/v1/audio/speech)";
  if (compiled.encoder) return "makes embeddings of texts (/v1/embeddings)";
  if (compiled.facts.score) return "ranks texts (/v1/rerank)";
  return "writes texts (/v1/chat/completions)";
}

std::string_view lack_of(Task task) {
  switch (task) {
    case Task::kEmbeddings:
      return "makes no embeddings";
    case Task::kRanking:
      return "does not rank texts";
    case Task::kSpeech:
      return "does not hear";
    case Task::kVoice:
      return "does not speak";
    case Task::kText:
    case Task::kAny:
      break;
  }
  return "writes no texts";
}

}  // namespace

Answer<void> check_use(const Engine& engine, Task task) {
  if (check_task(engine.compiled(), task)) return {};
  return wrong("model", "This model {}: it {}.", lack_of(task), use_of(engine.compiled()));
}

}  // namespace tokamak::protocol
