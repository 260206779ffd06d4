// Session: one sequence on a program. Feeds tokens in chunks and hands back logits.
//
// A device may be lost at any time. The session then has its program restored, runs what it has
// been fed once more in the very same steps, so that the states are the same to the bit, and goes
// on: its callers notice nothing but the time that takes. See docs/reliability.md.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "generate/image_rows.h"

namespace tokamak {

/// By what the device draws tokens from here on.
struct SamplingStart {
  SamplingRule rule;
  /// What the rule's penalty is for: the sequence with the token to feed. Not read without one.
  std::span<const uint32_t> previous_ids = {};
};

class Session {
 public:
  /// Starts at position 0: writes the page tables. `context`: positions the plan was built for;
  /// `vocab`: token ids must be below it; `all_rows`: whether the plan was built to give a row for
  /// every token, not only for the last. The program serves one session at a time: every call of an
  /// older one is an error (kUsage), and so is a call from inside a callback of the same session.
  /// With `images`, ids beyond the vocabulary may be theirs. REQUIRES: the program and the images
  /// outlive the session; one of its phases takes one token.
  static Result<Session> start(Program& program, uint32_t context, uint32_t vocab,
                               bool all_rows = false, ImageRows* images = nullptr);

  Session(Session&&) = default;  // a copy would write into the same cache
  Session& operator=(Session&&) = default;

  /// Rows that are fed from here on are of that adapter of the plan, from 1 on; 0: of none. What
  /// was fed before is forgotten where that changes.
  void use_adapter(uint32_t adapter);
  uint32_t position() const { return position_; }
  uint32_t context() const { return context_; }
  uint32_t vocab() const { return vocab_; }
  /// What is added to the number of tokens for the rotation of the next one.
  uint32_t rotary_shift() const { return places_.shift(position_); }
  /// Whether taking back what the device has run too far runs some steps again.
  bool is_recurrent() const { return is_recurrent_; }

  /// Runs the model over `tokens` and gives the logits after the last of them, or of all of them
  /// when the plan was built with all logits: rows of vocab floats, valid until the next call.
  /// Chunks are as large as the largest phase takes. `cancelled` is asked before each of them, and
  /// no more than three are under way: the call ends soon after it says yes.
  /// A model may turn long sequences by other rotary frequencies (RopeTable::short_rows): the call
  /// that makes the sequence long runs over all of it again.
  /// Errors: no tokens, an id beyond the vocabulary, more tokens than the context has left, the
  /// device's own (kDeviceLost: it was lost several times in this call), kCancelled. After an error
  /// the position is unchanged only if nothing had run.
  Result<std::span<const float>> feed(std::span<const uint32_t> tokens,
                                      const std::function<bool()>& cancelled = {});

  /// Goes back to where the sequence and `ids` part, or further where the states cannot be taken
  /// back there: attention forgets any position, a window only those that have not yet pushed out
  /// what it sees, and recurrent layers go back to a copy of their states or to the start. At most
  /// all but the last of `ids` stay, so that feed() of the others gives its logits. Returns the
  /// position, from which the caller feeds on. REQUIRES: there are ids.
  uint32_t keep_prefix(std::span<const uint32_t> ids);

  /// How many tokens greedy() can choose from here on; 0: none, or not without feed() in between.
  uint32_t greedy_room() const;

  /// Feeds `id`, then token by token the most probable one (the lowest id of equals), chosen on the
  /// device, which runs some steps ahead of this program. `next` receives every chosen token and
  /// says whether to go on. Ends after `count` of them, the last of which is not fed; what ran
  /// ahead of the end is as if it had not.
  /// REQUIRES: 0 < count <= greedy_room(). Errors: as feed(), and logits of which none is a finite
  /// number.
  Result<void> greedy(uint32_t id, uint32_t count, const std::function<bool(uint32_t)>& next);

  /// Whether feed_for_list() can be called here; feed() can.
  bool gives_list() const;

  /// As feed() of one token, but gives a list of the most probable tokens after it (TopKTokens of
  /// graph/sampling_ops.h), with the sum at that inverse temperature. REQUIRES: gives_list().
  Result<std::span<const float>> feed_for_list(uint32_t id, float inverse_temperature);

  /// How many lists draw() can give from here on; 0: none, or not without feed() in between.
  uint32_t sampling_room() const;

  /// Feeds `id`, then token by token what the device draws from the list after each (SampleToken),
  /// some steps ahead of this program. `next` receives every list, as of feed_for_list(), and the
  /// token that the device goes on with, kNoToken where it has none; it says whether that is the
  /// token to go on with. Ends after `count` lists; what ran ahead of the end is as if it had not.
  /// `start` gives by what the device draws after the lists that `next` has seen; it is asked
  /// again where the device was lost. REQUIRES: 0 < count <= sampling_room(); previous ids are
  /// below vocab. Errors: as feed().
  Result<void> sample(uint32_t id, uint32_t count, const std::function<SamplingStart()>& start,
                      const std::function<bool(std::span<const float> list, uint32_t token)>& next);
  static constexpr uint32_t kNoToken = UINT32_MAX;

  /// All logits that the last list was made of. REQUIRES: the call before was feed_for_list() or
  /// draw() and gave a list. Errors: the device's.
  Result<std::span<const float>> logits_after_list();

 private:
  Session(Program& program, uint32_t context, uint32_t vocab, bool all_rows, ImageRows* images)
      : program_(&program),
        context_(context),
        vocab_(vocab),
        all_rows_(all_rows),
        images_(images) {}
  static bool is_lost(const Result<void>& status);
  /// Whether this session may use the program now.
  Result<void> check_turn() const;
  /// The ways to the program: none of them is open to a session that is no longer the newest.
  Result<void> submit(const StepRequest& request);
  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values);
  Result<void> check_id(uint32_t id) const;
  /// Runs over `tokens` in chunks.
  Result<void> run(std::span<const uint32_t> tokens, const std::function<bool()>& cancelled);
  /// Runs `attempt`; where that loses the device, the sequence is as it was before.
  Result<void> or_as_before(const std::function<Result<void>()>& attempt);
  uint32_t room_for_steps() const;
  /// By that phase, or the one that takes its place at the position.
  StepRequest one_step(size_t phase, std::span<const uint32_t> tokens) const;
  /// Runs tokens, by the phase for that many of them, or for images.
  Result<void> token_step(std::span<const uint32_t> tokens, bool read_back);
  Result<void> image_step(std::span<const uint32_t> tokens, bool read_back);
  /// Submits; with `read_back`, waits for the result and adds it to the logits.
  Result<void> step(StepRequest request, bool read_back);
  /// Makes `attempt` until it ends in anything but a lost device, restoring what was before it, and
  /// what the device has run beyond the sequence.
  /// REQUIRES: a lost device leaves the sequence as the attempt found it, or further on.
  Result<void> outlive_device(const std::function<Result<void>()>& attempt,
                              const std::function<bool()>& cancelled);
  Result<void> write_tables();
  /// Runs the sequence again in the very same steps, from the newest copy of its states on.
  Result<void> replay(const std::function<bool()>& cancelled);
  /// Of `steps` those up to that copy need not run again.
  Result<void> put_back_states(std::span<const uint32_t> steps, uint32_t position);
  /// The copy from the latest position that is not after `position`.
  std::optional<size_t> newest_copy(uint32_t position) const;
  /// What follows `position` is part of another sequence from now on.
  void forget_copies_after(uint32_t position);
  /// REQUIRES: the position is in the sequence.
  void cut_back(uint32_t position);
  /// Whether the caches of sliding windows still hold all that `position` sees.
  bool windows_reach(uint32_t position) const;
  /// The copies to make in front of the step at `position`, so that few steps run again where the
  /// device has run too far.
  std::vector<BufferCopy> copies_at(uint32_t position);
  /// What the device has given. Callbacks hold it, too: they may come when nobody waits any more.
  struct Arrived {
    std::vector<float> logits;
    std::optional<Error> error;
  };
  struct Ahead;
  struct AheadLoop;
  Result<void> run_ahead(AheadLoop& loop);
  /// The token that a device means by `number`, kNoToken by -1. Errors: what names no token.
  Result<uint32_t> token_named(float number) const;
  /// The same of all tokens of a list.
  Result<void> check_list(std::span<const float> list) const;
  /// Tells the device what has occurred.
  Result<void> write_occurred(std::span<const uint32_t> ids);
  /// Submits `count` steps, fewer where another phase takes over.
  Result<void> submit_ahead(const AheadLoop& loop, uint32_t count,
                            const std::shared_ptr<Ahead>& own);
  /// The step of the list phase, for the position, that makes the list of the logits.
  const Step& own_list_step() const;
  void find_sampling_phases(const Plan& plan);

  Program* program_;
  uint64_t sequence_ = 0;
  uint32_t context_, vocab_;
  bool all_rows_;
  ImageRows* images_;        // null: there are none
  TokenPlaces places_;       // of the tokens of the last feed()
  bool is_running_ = false;  // in the middle of a call
  uint32_t adapter_ = 0;
  uint32_t position_ = 0;
  uint32_t length_ = 0;          // position_ after the current call, also where it was cancelled
  uint32_t written_ = 0;         // the states have seen tokens up to here, also in steps taken back
  uint32_t short_rows_ = 0;      // of the plan's rotary table
  std::vector<uint32_t> ids_;    // fed so far
  std::vector<uint32_t> steps_;  // tokens of each step that they were fed in
  size_t greedy_phase_ = 0;      // the number of phases: there is none
  size_t list_phase_ = 0;        // the same
  BufferId occurred_ = {};       // of the list phase: see SampleToken
  uint32_t ahead_ = 1;           // most steps under way at once
  bool is_recurrent_ = false;    // has states that cannot be taken back, but copies of them
  bool is_corrupted_ = false;    // these states hold tokens that are no longer part of the sequence
  std::array<std::optional<uint32_t>, kMinCheckpoints>
      copied_;                 // the positions the copies are from
  bool holds_logits_ = false;  // the device still has those of the last list
  std::shared_ptr<Arrived> arrived_ = std::make_shared<Arrived>();
};

}  // namespace tokamak
