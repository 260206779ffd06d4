// Loading holds pieces of tensors in memory, never whole ones: a checkpoint of 300 MB is opened
// with no more room than its own mapping and a few MiB.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "engine/engine.h"

namespace tokamak {
namespace {

/// Above what is mapped; the largest tensor alone is more.
constexpr uint64_t kRoom = uint64_t{64} << 20;

constexpr uint64_t kHidden = 2048, kFeedForward = 8192, kVocab = 40000, kLayers = 2;

/// Counts the bytes of every constant and drops them.
class DroppingBackend final : public Backend {
 public:
  const DeviceInfo& device() const override { return cpu_->device(); }
  uint64_t device_bytes() const override { return 0; }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress&) override {
    for (const Buffer& buffer : plan.buffers) {
      if (buffer.use != BufferUse::kConstant) continue;
      uint64_t bytes = 0;
      TOK_TRY(constants(buffer.tensor, {}, [&](uint64_t, std::span<const std::byte> piece) {
        bytes += piece.size();
        return Result<void>();
      }));
      if (bytes != byte_count(buffer.tensor, 1)) {
        return invalid_input("{} has {} bytes.", buffer.tensor.name, bytes);
      }
    }
    return std::unique_ptr<Program>();
  }

 private:
  std::unique_ptr<Backend> cpu_ = make_cpu_backend();
};

enum class Stored { kFloats, kAffine, kGptq };

class Checkpoint {
 public:
  /// Zeros take no room on the disk. The shapes are those of a Llama.
  Checkpoint(const std::string& folder, Stored stored) : stored_(stored) {
    matrix("model.embed_tokens", kVocab, kHidden, stored == Stored::kGptq);
    for (uint64_t layer = 0; layer < kLayers; ++layer) {
      const std::string p = fmt::format("model.layers.{}.", layer);
      for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
        matrix(p + "self_attn." + name, kHidden, kHidden);
      }
      matrix(p + "mlp.gate_proj", kFeedForward, kHidden);
      matrix(p + "mlp.up_proj", kFeedForward, kHidden);
      matrix(p + "mlp.down_proj", kHidden, kFeedForward);
      add(p + "input_layernorm.weight", "BF16", {kHidden}, 2);
      add(p + "post_attention_layernorm.weight", "BF16", {kHidden}, 2);
    }
    add("model.norm.weight", "BF16", {kHidden}, 2);
    const std::string text = entries_.dump();
    const uint64_t length = text.size();
    std::ofstream file(folder + "/model.safetensors", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file.write(text.data(), std::streamsize(text.size()));
    file.close();
    size_ = sizeof length + length + offset_;
    std::filesystem::resize_file(folder + "/model.safetensors", size_);
    write_config(folder);
  }
  uint64_t size() const { return size_; }

 private:
  void add(const std::string& name, const char* dtype, std::vector<uint64_t> shape,
           uint64_t width) {
    Json::Array dims;
    uint64_t end = offset_ + width;
    for (const uint64_t dim : shape) {
      dims.emplace_back(dim);
      width *= dim;
    }
    end = offset_ + width;
    Json entry;
    entry.set("dtype", dtype).set("shape", std::move(dims));
    entries_.set(name, entry.set("data_offsets", Json::Array{Json(offset_), Json(end)}));
    offset_ = end;
  }
  void matrix(const std::string& name, uint64_t rows, uint64_t columns, bool floats = false) {
    if (stored_ == Stored::kFloats || floats) {
      return add(name + ".weight", "BF16", {rows, columns}, 2);
    }
    if (stored_ == Stored::kAffine) {
      add(name + ".weight", "U32", {rows, columns / 4}, 4);
      add(name + ".scales", "F32", {rows, columns / 32}, 4);
      return add(name + ".biases", "F32", {rows, columns / 32}, 4);
    }
    add(name + ".qweight", "I32", {columns / 8, rows}, 4);
    add(name + ".scales", "F16", {columns / 32, rows}, 2);
    add(name + ".qzeros", "I32", {columns / 32, rows / 8}, 4);
  }
  static void write_config(const std::string& folder) {
    Json config;
    config.set("architectures", Json::Array{Json("LlamaForCausalLM")});
    config.set("vocab_size", kVocab).set("hidden_size", kHidden);
    config.set("intermediate_size", kFeedForward).set("num_hidden_layers", kLayers);
    config.set("num_attention_heads", 16).set("tie_word_embeddings", true);
    config.set("rms_norm_eps", 1e-5).set("eos_token_id", 2);
    std::ofstream(folder + "/config.json") << config.dump();
  }

  Stored stored_;
  Json entries_;
  uint64_t offset_ = 0, size_ = 0;
};

uint64_t mapped_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * uint64_t(::sysconf(_SC_PAGESIZE));
}

/// In a process of its own: ends it with 0 when everything was read.
[[noreturn]] void load(const std::string& folder, uint64_t file_bytes, const std::string& format) {
  const uint64_t room = mapped_bytes() + file_bytes + kRoom;
  const rlimit limit{room, room};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(3);
  OpenOptions options;
  options.context = 16;
  options.quantize = format;
  auto files = read_model_files(folder);
  if (!files) ::_exit(2);
  auto engine =
      Engine::load(*std::move(files), std::make_unique<DroppingBackend>(), options, steady_clock());
  if (!engine) std::fprintf(stderr, "%s\n", engine.error().message.c_str());
  ::_exit(engine ? 0 : 1);
}

struct Case {
  const char* name;
  Stored stored;
  const char* quantize;
};

class Streaming : public testing::TestWithParam<Case> {};

TEST_P(Streaming, HasPiecesOnly) {
  const std::string folder =
      fmt::format("{}tokamak_streaming_{}_{}", testing::TempDir(), GetParam().name, ::getpid());
  std::filesystem::create_directories(folder);
  const Checkpoint checkpoint(folder, GetParam().stored);
  EXPECT_GT(checkpoint.size(), uint64_t{120} << 20);
  EXPECT_EXIT(load(folder, checkpoint.size(), GetParam().quantize), testing::ExitedWithCode(0), "");
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Formats, Streaming,
                         testing::Values(Case{"floats", Stored::kFloats, ""},
                                         Case{"floats_to_q4", Stored::kFloats, "q4"},
                                         Case{"affine", Stored::kAffine, ""},
                                         Case{"gptq", Stored::kGptq, ""}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace tokamak
