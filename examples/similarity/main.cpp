// similarity MODEL QUERY TEXT...: how near each text is to the query, from -1 to 1, best first.
// MODEL is the folder of an embedding model.
#include <tokamak/tokamak.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace {

int report(const tokamak::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

/// "query" where the model has a prompt of that name, else none.
std::string prompt_named(const tokamak::Model& model, const std::string& name) {
  const auto& prompts = model.details().embed_prompts;
  return std::ranges::find(prompts, name) == prompts.end() ? "" : name;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: similarity MODEL QUERY TEXT...\n");
    return 2;
  }
  auto model = tokamak::Model::open({.model = argv[1]});
  if (!model) return report(model.error());

  const std::vector<std::string> texts(argv + 3, argv + argc);
  auto query =
      model->embed(std::vector<std::string>{argv[2]}, {.prompt = prompt_named(*model, "query")});
  if (!query) return report(query.error());
  auto documents = model->embed(texts, {.prompt = prompt_named(*model, "document")});
  if (!documents) return report(documents.error());

  std::vector<std::pair<float, std::string>> found;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float>& one = (*documents)[i];  // of length 1, like the query's
    found.emplace_back(std::inner_product(one.begin(), one.end(), query->at(0).begin(), 0.0f),
                       texts[i]);
  }
  std::sort(found.rbegin(), found.rend());
  for (const auto& [similarity, text] : found) std::printf("%.3f  %s\n", similarity, text.c_str());
}
