// DraftModel: a second model, smaller than the one whose drafts it makes, that says what may follow
// in the sequences of a scheduler (Leviathan et al. 2023, arXiv:2211.17192). It runs on a program
// of its own with as many slots as the scheduler has, and decodes greedily, all sequences of a
// draft together.
//
// It does not learn what became of a draft. Each slot knows which tokens its cache holds; what a
// text has in common with them stays, and the rest is overwritten: wrong guesses, what another
// request has left in the slot, and all of it after a loss. What it says is verified (scheduler.h),
// so that nothing here can change a token.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "generate/pages/page_pool.h"
#include "generate/pages/page_tables.h"

namespace tokamak {

class DraftModel {
 public:
  using Done = decltype(StepRequest::done);
  /// The tokens of the sequence in that slot; there is at least one. Those of another tenant before
  /// it are of no use: the time of a draft must not show what they were.
  struct Text {
    uint32_t slot = 0;
    std::span<const uint32_t> ids;
    std::string_view tenant = {};
  };
  /// The result of draft(): values of done are ids, `stride` from those of a step to the next's.
  struct Drafting {
    uint32_t tokens = 0, stride = 1;
  };

  /// Errors (kUnsupported): recurrent states, which cannot take back a wrong guess; a plan without
  /// phases that choose tokens.
  static Result<void> check(const Plan& plan);
  /// `context`: positions that the plan was built for; `vocab`: ids from there on it does not know.
  /// REQUIRES: the program outlives this. Errors: as check().
  static Result<std::unique_ptr<DraftModel>> make(Program& program, uint32_t context,
                                                  uint32_t vocab);

  Program& program() { return *program_; }
  uint32_t vocab() const { return vocab_; }
  /// Whether a request has the slot now. The pages of others are taken where none are left.
  void set_taken(uint32_t slot, bool is_taken) { caches_[slot].is_taken = is_taken; }

  /// How many tokens of the text it has to read before it can draft.
  uint32_t unread(const Text& text) const;
  /// Whether it can draft that number of tokens: the context has room for them, there are pages,
  /// which the slot has from then on, and it knows the ids.
  bool has_room(const Text& text, uint32_t tokens);
  /// Submits a step that reads at most `most` of the tokens that are unread; `done` is called after
  /// it. Gives how many. REQUIRES: has_room() for each, and one has some.
  Result<uint32_t> read(std::span<const Text> texts, uint32_t most, Done done);
  /// Submits steps that read what is left, and then choose at most `tokens` after each text.
  /// REQUIRES: has_room() for each and as many tokens.
  Result<Drafting> draft(std::span<const Text> texts, uint32_t tokens, Done done);
  /// Takes the ids chosen for that slot since draft(), of which the last has not been fed.
  void drafted(uint32_t slot, std::span<const uint32_t> ids);
  /// After a loss, when the device is there again.
  Result<void> restore(const Error& loss);
  /// No slot holds anything, and none is taken.
  void forget();

 private:
  /// The content of a slot of the program.
  struct Cache {
    std::string tenant;           // of the last text
    std::vector<uint32_t> ids;    // its tokens, from position 0 on
    std::vector<uint32_t> pages;  // of layers that see everything
    size_t told = 0;              // of them, those that the program knows
    bool has_rings = false;       // the program knows the pages of layers with windows
    uint32_t written = 0;         // positions that those have seen, also for nothing
    bool is_long = false;         // which part of a rotary table its keys were turned by
    bool is_taken = false;
    uint64_t used = 0;
  };

  DraftModel(Program& program, uint32_t context, uint32_t vocab);
  bool is_long(size_t length) const;
  /// How many tokens of the text the cache holds.
  uint32_t held(const Text& text) const;
  bool reserve(Cache& cache, uint32_t positions);
  Result<void> write_tables(uint32_t slot);
  /// The next `count` tokens of the text run, and maybe `ahead` more that follow them.
  Result<Slot> advance(const Text& text, uint32_t count, uint32_t ahead);

  Program* program_;
  uint32_t context_, vocab_;
  std::vector<PageTable> tables_;
  PagePool pool_;
  bool has_pool_ = false;
  uint32_t short_rows_ = 0;             // of the plan's rotary table
  uint32_t window_spare_ = UINT32_MAX;  // positions of the shortest ring beyond its window
  std::vector<Cache> caches_;           // of each slot
  uint64_t calls_ = 0;
};

}  // namespace tokamak
