// The form that the answer to a request must have.
#pragma once
#include <list>
#include <memory>
#include <string>

#include "protocol/output/output_format.h"
#include "protocol/requests/fields.h"
#include "text/grammar/grammar.h"

namespace tokamak::protocol {

struct ConstrainedAnswer {
  std::shared_ptr<const Grammar> grammar;           // null: the answer is any text
  bool holds_calls = false, demands_calls = false;  // as OutputFormat has them
};

/// Grammars of one service, which clients ask for again and again: a large schema takes longer to
/// compile than a token to make.
class AnswerGrammars {
 public:
  /// From response_format, json_schema, regex, grammar or a tool_choice that demands a call, of
  /// which only one may be there. It binds after the reasoning of an answer that begins with some.
  /// Where none is there but tools are, calls are held to their schemas from their beginning on, if
  /// the family writes them as JSON. `form`: how the answer is read. What another tenant has asked
  /// for is compiled anew: the time must not show what others ask. REQUIRES: the tools' family is
  /// always the same.
  Answer<ConstrainedAnswer> of(const Fields& fields, const OutputFormat& form,
                               std::string_view tenant);

 private:
  static constexpr size_t kMaxKept = 64, kMaxKeyBytes = size_t{64} << 10;
  struct Kept {
    std::string key;  // all that the grammar is made of
    ConstrainedAnswer held;
  };

  std::list<Kept> kept_;  // last used first
};

}  // namespace tokamak::protocol
