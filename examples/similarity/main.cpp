// similarity MODEL QUERY TEXT...: how near each text is to the query, from -1 to 1, best first.
// MODEL is the folder of an embedding model.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "engine/engine.h"

namespace {

int report(const tokamak::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

/// "query" where the model has a prompt of that name, else none.
std::string prompt_named(const tokamak::Engine& engine, const char* name) {
  for (const auto& prompt : engine.compiled().encoder->prompts) {
    if (prompt.first == name) return name;
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: similarity MODEL QUERY TEXT...\n");
    return 2;
  }
  tokamak::OpenOptions options{.model = argv[1], .task = tokamak::Task::kEmbeddings};
  auto engine = tokamak::Engine::open(options);
  if (!engine) return report(engine.error());

  auto query = (*engine)->embed(argv[2], {.prompt = prompt_named(**engine, "query")});
  if (!query) return report(query.error());
  const std::vector<std::string> texts(argv + 3, argv + argc);
  auto documents = (*engine)->embed(texts, {.prompt = prompt_named(**engine, "document")});
  if (!documents) return report(documents.error());

  std::vector<std::pair<float, std::string>> found;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float>& one = (*documents)[i];  // of length 1, like the query's
    found.emplace_back(std::inner_product(one.begin(), one.end(), query->begin(), 0.0f), texts[i]);
  }
  std::sort(found.rbegin(), found.rend());
  for (const auto& [similarity, text] : found) std::printf("%.3f  %s\n", similarity, text.c_str());
}
