// bench_memory [CHUNKS] [DIMENSION]: how long a store of that size takes for its parts of a
// question, with vectors and words from a seed: the model's own time is not in it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "memory/search.h"
#include "memory/words.h"

namespace {

using namespace tokamak;

struct Random {
  uint64_t state = 1;
  uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(state >> 33);
  }
};

/// Few words are frequent and most are rare, as in any language.
std::string word(Random& random) {
  const double share = double(random.next() % 1'000'000 + 1) / 1e6;
  return fmt::format("w{}", uint32_t(std::pow(50'000.0, share)));
}

std::vector<float> vector(Random& random, uint32_t dimension) {
  std::vector<float> out(dimension);
  double squares = 0;
  for (float& number : out) {
    number = float(random.next() % 2001) - 1000;
    squares += double(number) * number;
  }
  for (float& number : out) number = float(number / std::sqrt(squares));
  return out;
}

double cpu_milliseconds() {
  return 1e3 * double(std::clock()) / CLOCKS_PER_SEC;
}

/// The shortest of several runs, in milliseconds of one core, which other programs do not change.
template <typename Work>
double milliseconds(const Work& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double start = cpu_milliseconds();
    work();
    best = std::min(best, cpu_milliseconds() - start);
  }
  return best;
}

Result<void> fill(const memory::Store& store, uint32_t chunks, uint32_t dimension) {
  constexpr uint32_t kChunksOfDocument = 100, kWords = 150;
  Random random;
  TOK_TRY(memory::Transaction transaction, store.begin());
  TOK_TRY(store.add_model({"random", "", dimension, vector(random, dimension)}));
  for (uint32_t done = 0; done < chunks; done += kChunksOfDocument) {
    std::vector<memory::StoredChunk> parts;
    std::string whole;
    for (uint32_t i = done; i < std::min(done + kChunksOfDocument, chunks); ++i) {
      std::string text;
      for (uint32_t k = 0; k < kWords; ++k) text += word(random) + " ";
      parts.push_back({.start = whole.size(),
                       .stop = whole.size() + text.size(),
                       .tokens = kWords,
                       .text = text,
                       .vector = memory::to_f16(vector(random, dimension))});
      whole += text;
    }
    TOK_TRY(const int64_t id, store.put({.source = fmt::format("{}.md", done)}, whole));
    TOK_TRY(store.put_chunks(id, parts));
  }
  return transaction.commit();
}

Result<void> run(const std::string& path, uint32_t chunks, uint32_t dimension) {
  TOK_TRY(const memory::Store store, memory::Store::open_or_create(path));
  const double start = cpu_milliseconds();
  TOK_TRY(fill(store, chunks, dimension));
  fmt::print("{} chunks, {} numbers each\n", chunks, dimension);
  fmt::print("{:<40}{:>9.0f} ms\n", "writing them", cpu_milliseconds() - start);
  fmt::print("{:<40}{:>9.0f} MB\n", "the file", double(std::filesystem::file_size(path)) / 1e6);
  Random random{2};
  const std::vector<float> query = vector(random, dimension);
  const auto row = [](const char* name, double time) {
    fmt::print("{:<40}{:>9.1f} ms\n", name, time);
  };
  memory::VectorIndex index;
  row("vectors into memory", milliseconds([&] { index = *store.vectors(); }));
  row("nearest 50", milliseconds([&] { static_cast<void>(index.nearest(query, 50)); }));
  std::string question;
  for (int i = 0; i < 8; ++i) question += word(random) + " ";
  const auto all = memory::distinct_words(question);
  row("best 50 by 8 words",
      milliseconds([&] { static_cast<void>(*store.match_words(all, {}, 50)); }));
  row("best 50 by those that are not common", milliseconds([&] {
        static_cast<void>(*store.match_words(*store.rare_words(question), {}, 50));
      }));
  memory::SearchOptions options{.filter = {}, .by = memory::By::kWords, .most = 50, .rerank = {}};
  memory::Searcher searcher(store, nullptr);
  row("search by words, without copies",
      milliseconds([&] { static_cast<void>(*searcher.search(question, options)); }));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const std::string path = std::filesystem::temp_directory_path() / "tokamak-bench-memory.db";
  for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(path + ending);
  const auto status = run(path, uint32_t(number(1, 100'000)), uint32_t(number(2, 768)));
  for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(path + ending);
  if (!status) fmt::print(stderr, "error: {}\n", status.error().message);
  return status ? 0 : 1;
}
