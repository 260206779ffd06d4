// GrammarMatcher: follows a text, byte by byte, by a grammar.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "text/grammar/places.h"

namespace tokamak {

class GrammarMatcher {
 public:
  static constexpr size_t kMaxThreads = GrammarPlaces::kMaxThreads;

  /// REQUIRES: the grammar outlives this.
  explicit GrammarMatcher(const Grammar& grammar);
  /// With a table that others use, too, by the same thread.
  explicit GrammarMatcher(std::shared_ptr<GrammarPlaces> places);

  /// Whether a text of the grammar may go on with these bytes, a character cut at their end
  /// included.
  bool allows(std::string_view bytes);
  /// Takes them. REQUIRES: allows(bytes).
  void push(std::string_view bytes);
  /// Whether the text is one of the grammar as it is.
  bool may_end() const;
  /// Whether something may follow.
  bool may_continue() const;
  /// The bytes that must follow, at most that many: up to where there is a choice, or the text may
  /// end.
  std::string forced(size_t most) const;
  /// Whether some place had too many threads, so that "no" need not be true.
  bool is_too_wide() const { return places_->is_too_wide(); }

  GrammarPlaces::Position here() const { return here_; }
  /// Goes on with another table of the same grammar.
  void move_to(std::shared_ptr<GrammarPlaces> places);

 private:
  void make_room();

  std::shared_ptr<GrammarPlaces> places_;
  bool is_own_;
  GrammarPlaces::Position here_, settled_;
};

}  // namespace tokamak
