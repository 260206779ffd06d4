// The processor as a device: kernels for its vectors, on its cores.
#include "backend/cpu/processor_name.h"
#include "backend/cpu/program.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/tiles.h"

namespace tokamak {
namespace {

class ThreadedVectors : public Vectors {
 public:
  explicit ThreadedVectors(uint32_t threads) : pool_(threads) {}
  ThreadPool& pool() override { return pool_; }
  std::shared_ptr<const PanelLayout> layout(DType dtype, uint64_t rows, uint64_t columns,
                                            bool is_exact) const override {
    return std::make_shared<const PanelLayout>(dtype, rows, columns, is_exact);
  }
  uint64_t bytes(const PanelLayout& layout) const override { return layout.bytes(); }
  void pack(const PanelLayout& layout, std::span<const std::byte> streams, std::byte* to) override {
    pool_.run(layout.panels(), [&](size_t first, size_t last) {
      pack_panels(layout, streams, first, last, to + first * layout.panel_bytes);
    });
  }

 private:
  ThreadPool pool_;
};

}  // namespace

std::unique_ptr<Backend> make_vector_backend(uint32_t threads, Features disabled) {
  if (vector_set().empty()) return nullptr;
  if (threads == 0) threads = usable_cores();
  const bool is_limited = vectors_are_limited();  // to a processor that has no tiles either
  const TileUnit* tiles =
      (disabled & kFeatureBf16Tiles) == 0 && !is_limited ? tile_unit() : nullptr;
  return make_cpu_backend_of(
      {.backend = BackendKind::kCpu,
       .name = processor_name(),
       .driver = fmt::format("{}{}{}, {} thread{}", vector_set(),
                             tiles == nullptr ? "" : fmt::format(" and {}", tiles->name),
                             is_limited ? " (as TOKAMAK_CPU says)" : "", threads,
                             threads == 1 ? "" : "s"),
       .features = kFeatureVectors | (tiles == nullptr ? 0u : kFeatureBf16Tiles),
       .size = {.multiprocessors = threads, .cache_bytes = 0, .source = "the processor"}},
      std::make_shared<ThreadedVectors>(threads));
}

}  // namespace tokamak
