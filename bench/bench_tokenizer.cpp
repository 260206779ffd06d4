// bench_tokenizer FOLDER [RUNS]: how fast tokenizer.json of the folder loads and its text.txt is
// encoded, as one line of JSON; bench/compare_tokenizers.py runs it beside the reference library.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "text/tokenizer/tokenizer.h"

namespace {

std::string read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return {};
  std::fseek(file, 0, SEEK_END);
  std::string text(size_t(std::max(std::ftell(file), 0L)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

/// Processor time, which other programs on the machine disturb less than the clock on the wall.
double seconds_since(std::clock_t start) {
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

/// FNV-1a over the ids as little-endian words, which any language can repeat.
uint32_t hash_of(const std::vector<uint32_t>& ids) {
  uint32_t hash = 2166136261u;
  for (const uint32_t id : ids) {
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ (id >> shift & 0xFF)) * 16777619u;
    }
  }
  return hash;
}

std::string list_of(const std::vector<double>& values) {
  return fmt::format("[{:.6f}]", fmt::join(values, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_tokenizer FOLDER [RUNS]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::string text = read_file(folder + "/text.txt");
  std::vector<double> load, encode;
  std::vector<uint32_t> ids;
  for (int run = 0; run < runs; ++run) {
    std::clock_t start = std::clock();
    const auto tokenizer = tokamak::Tokenizer::from_json(read_file(folder + "/tokenizer.json"));
    load.push_back(seconds_since(start));
    if (!tokenizer) {
      fmt::print(stderr, "error: {}: {}\n", folder, tokenizer.error().message);
      return 1;
    }
    start = std::clock();
    auto encoded = tokenizer->encode(text, {.add_special = false});
    encode.push_back(seconds_since(start));
    if (!encoded) {
      fmt::print(stderr, "error: {}\n", encoded.error().message);
      return 1;
    }
    ids = *std::move(encoded);
  }
  fmt::print("{{\"load\": {}, \"encode\": {}, \"bytes\": {}, \"ids\": {}, \"hash\": {}}}\n",
             list_of(load), list_of(encode), text.size(), ids.size(), hash_of(ids));
  return 0;
}
