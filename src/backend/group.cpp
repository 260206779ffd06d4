#include "backend/group.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/check.h"
#include "base/guarded.h"

namespace tokamak {
namespace {

/// A thread for every rank but the first, whose work the caller does.
class RankThreads {
 public:
  explicit RankThreads(size_t ranks) : results_(ranks) {
    for (size_t rank = 1; rank < ranks; ++rank) {
      threads_.emplace_back([this, rank] { run(rank); });
    }
  }
  RankThreads(const RankThreads&) = delete;
  RankThreads& operator=(const RankThreads&) = delete;
  ~RankThreads() {
    ends_ = true;
    ++turn_;
    turn_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Calls work(rank) for every rank at the same time: they may wait for each other. The first
  /// error in the order of the ranks.
  Result<void> all(const std::function<Result<void>(size_t rank)>& work) {
    work_ = &work;
    left_ = uint32_t(threads_.size());
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_all();
    results_[0] = guarded([&] { return work(0); });
    for (uint32_t left = left_.load(std::memory_order_acquire); left != 0;
         left = left_.load(std::memory_order_acquire)) {
      left_.wait(left, std::memory_order_acquire);
    }
    for (Result<void>& result : results_) TOK_TRY(std::exchange(result, {}));
    return {};
  }

 private:
  void run(size_t rank) {
    for (uint32_t seen = 0;;) {
      turn_.wait(seen, std::memory_order_acquire);
      seen = turn_.load(std::memory_order_acquire);
      if (ends_) return;
      results_[rank] = guarded([&] { return (*work_)(rank); });
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
    }
  }

  std::vector<std::thread> threads_;
  std::vector<Result<void>> results_;
  const std::function<Result<void>(size_t)>* work_ = nullptr;
  std::atomic<uint32_t> turn_ = 0, left_ = 0;
  std::atomic<bool> ends_ = false;
};

class GroupProgram : public Program {
 public:
  GroupProgram(std::vector<std::unique_ptr<Program>> ranks, std::shared_ptr<RankThreads> threads)
      : ranks_(std::move(ranks)), threads_(std::move(threads)) {}
  ~GroupProgram() override {
    // One may still wait for what another one has not been asked to do.
    (void)threads_->all([&](size_t rank) {
      ranks_[rank].reset();
      return Result<void>();
    });
  }

  const Plan& plan() const override { return ranks_[0]->plan(); }
  CompileReport report() const override {
    CompileReport sum = ranks_[0]->report();
    for (size_t rank = 1; rank < ranks_.size(); ++rank) {
      const CompileReport own = ranks_[rank]->report();
      sum.compile_seconds = std::max(sum.compile_seconds, own.compile_seconds);
      sum.load_seconds = std::max(sum.load_seconds, own.load_seconds);
      if (sum.cache_problem.empty()) sum.cache_problem = own.cache_problem;
    }
    return sum;
  }

  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values,
                           uint64_t first) override {
    return threads_->all(
        [&](size_t rank) { return ranks_[rank]->write_table(buffer, values, first); });
  }

  /// The results are the same on every rank: the first one's is read. A step that has begun runs to
  /// its end, since the ranks would not agree where to give it up.
  Result<void> submit(const StepRequest& request) override {
    return threads_->all([&](size_t rank) {
      StepRequest own = request;
      own.cancelled = nullptr;
      if (rank != 0) own.done = nullptr;
      return ranks_[rank]->submit(own);
    });
  }

  Result<void> poll() override { return ranks_[0]->poll(); }
  Result<void> wait_for_result() override { return ranks_[0]->wait_for_result(); }
  Result<void> limit_batches(uint32_t most) override {
    return threads_->all([&](size_t rank) { return ranks_[rank]->limit_batches(most); });
  }
  Result<void> wait() override {
    return threads_->all([&](size_t rank) { return ranks_[rank]->wait(); });
  }

  Result<std::vector<double>> time_launches(const StepRequest& request) override {
    TOK_TRY(std::vector<std::vector<double>> times, time_ranks(request));
    return std::move(times[0]);
  }
  Result<std::vector<std::vector<double>>> time_ranks(const StepRequest& request) override {
    std::vector<std::vector<double>> times(ranks_.size());
    TOK_TRY(threads_->all([&](size_t rank) -> Result<void> {
      TOK_TRY(times[rank], ranks_[rank]->time_launches(request));
      return {};
    }));
    return times;
  }

 private:
  std::vector<std::unique_ptr<Program>> ranks_;
  std::shared_ptr<RankThreads> threads_;
};

class GroupBackend : public Backend {
 public:
  explicit GroupBackend(std::vector<std::unique_ptr<Backend>> ranks)
      : ranks_(std::move(ranks)),
        threads_(std::make_shared<RankThreads>(ranks_.size())),
        device_(ranks_[0]->device()) {
    device_.ranks = uint32_t(ranks_.size());
  }

  const DeviceInfo& device() const override { return device_; }
  uint64_t device_bytes() const override { return ranks_[0]->device_bytes(); }
  uint64_t free_bytes() const override {
    uint64_t least = UINT64_MAX;
    for (const auto& rank : ranks_) least = std::min(least, rank->free_bytes());
    return least;
  }
  std::vector<DeviceMemoryUse> memory_use() const override {
    std::vector<DeviceMemoryUse> all;
    for (const auto& rank : ranks_) {
      all.push_back({.bytes = rank->device_bytes(), .free_bytes = rank->free_bytes()});
    }
    return all;
  }

  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    std::vector<std::unique_ptr<Program>> programs(ranks_.size());
    TOK_TRY(threads_->all([&](size_t rank) -> Result<void> {
      const auto own = [&](const TensorDesc& tensor, Share share, const WriteBytes& write) {
        return constants(of_rank(tensor, uint32_t(rank)), share, write);
      };
      TOK_TRY(programs[rank],
              ranks_[rank]->compile(plan, own, rank == 0 ? progress : LoadProgress()));
      return {};
    }));
    std::vector<Program*> all;
    for (const auto& program : programs) all.push_back(program.get());
    for (size_t rank = 0; rank < all.size(); ++rank) TOK_TRY(all[rank]->connect(all, rank));
    return std::make_unique<GroupProgram>(std::move(programs), threads_);
  }

 private:
  std::vector<std::unique_ptr<Backend>> ranks_;
  std::shared_ptr<RankThreads> threads_;
  DeviceInfo device_;
};

/// The same of two of them.
bool is_like(const DeviceInfo& a, const DeviceInfo& b) {
  return a.backend == b.backend && a.name == b.name && a.features == b.features &&
         a.subgroup_min == b.subgroup_min && a.subgroup_max == b.subgroup_max &&
         a.limits == b.limits && a.size == b.size;
}

}  // namespace

bool are_alike(std::span<const std::unique_ptr<Backend>> devices) {
  return std::ranges::all_of(devices, [&](const std::unique_ptr<Backend>& one) {
    return is_like(devices[0]->device(), one->device());
  });
}

Result<std::unique_ptr<Backend>> make_group(std::vector<std::unique_ptr<Backend>> ranks) {
  TOK_CHECK(ranks.size() >= 2 && ranks.size() <= kMaxRanks);
  const DeviceInfo& first = ranks[0]->device();
  for (const auto& rank : ranks) {
    const DeviceInfo& own = rank->device();
    if (is_like(first, own)) continue;
    return unsupported(
        "GPUs that are ranks of a model must be alike, but \"{}\" ({}) and \"{}\" ({}) are not; "
        "split them by layers (--split layers).",
        first.name, first.driver, own.name, own.driver);
  }
  return std::make_unique<GroupBackend>(std::move(ranks));
}

}  // namespace tokamak
