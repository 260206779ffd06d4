// A whole model on a device that cannot bind its largest weight at once.
#include <chrono>

#include "backend/webgpu/adapters.h"
#include "golden/reference.h"
#include "limited_backend.h"

namespace tokamak::golden {
namespace {

constexpr uint64_t kBindingBytes = uint64_t{1} << 20;

/// Owns what it limits.
class SmallDevice : public LimitedBackend {
 public:
  explicit SmallDevice(std::unique_ptr<Backend> real)
      : LimitedBackend(*real, kBindingBytes), real_(std::move(real)) {}

 private:
  std::unique_ptr<Backend> real_;
};

/// The built-in model, whose embedding is 5 MB, on `backend`.
std::unique_ptr<Engine> load(std::unique_ptr<Backend> backend) {
  auto files = read_model_files(TOKAMAK_SOURCE_DIR "/models/storyteller");
  EXPECT_TRUE(files) << files.error().message;
  OpenOptions options;
  options.context = 64;
  options.chunk = 16;
  const Clock clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  auto engine = Engine::load(*std::move(files), std::move(backend), options, clock);
  if (engine) return *std::move(engine);
  ADD_FAILURE() << engine.error().message;
  return nullptr;
}

TEST(CutWeights, ChangeNothingInTheAnswer) {
  require_device({.name = "webgpu", .options = {.backend = "webgpu"}});
  if (IsSkipped()) return;
  auto whole_device = open_webgpu_backend({}), small_device = open_webgpu_backend({});
  ASSERT_TRUE(whole_device && small_device);
  const auto whole = load(*std::move(whole_device));
  const auto cut = load(std::make_unique<SmallDevice>(*std::move(small_device)));
  ASSERT_TRUE(whole && cut);
  size_t parts = 0;
  for (const Buffer& buffer : cut->compiled().main.plan.buffers) {
    EXPECT_LE(buffer.bytes, kBindingBytes) << buffer.tensor.name;
    parts += buffer.tensor.name.starts_with("embed_tokens.weight/");
  }
  EXPECT_EQ(parts, 6u);
  std::vector<uint32_t> ids(20);  // more than a chunk, from every part
  for (uint32_t i = 0; i < ids.size(); ++i) ids[i] = (i * 1619) % 8192;
  const std::vector<float> expected = logits_of(*whole, ids), actual = logits_of(*cut, ids);
  ASSERT_EQ(expected.size(), 8192u);
  EXPECT_EQ(expected, actual) << "relative difference " << relative_error(expected, actual);
  const std::vector<float> one = logits_of(*whole, std::span(ids).last(1));
  EXPECT_EQ(one, logits_of(*cut, std::span(ids).last(1)));
}

}  // namespace
}  // namespace tokamak::golden
