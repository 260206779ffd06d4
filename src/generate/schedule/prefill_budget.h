// How many tokens of prompts a scheduler reads between two steps that decode: about as many as take
// as long as one of those. Whoever waits for tokens then gets them half as fast while a prompt is
// read, whatever the device, the model and the length of the prompt.
#pragma once
#include <cstdint>

namespace tokamak {

class PrefillBudget {
 public:
  /// Starts at `least`: nobody has to wait. REQUIRES: 1 <= least <= most.
  PrefillBudget(uint32_t least, uint32_t most);

  uint32_t tokens() const { return tokens_; }
  /// How long a step that decodes takes, lately; 0: none has run.
  double decode_seconds() const { return decode_seconds_; }
  /// Takes the time of a step that decoded. Times of 0 count for nothing.
  void decoded(double seconds);
  /// Takes the time of a step that read that many tokens of prompts.
  void read(uint32_t tokens, double seconds);

 private:
  uint32_t least_, most_, tokens_;
  double decode_seconds_ = 0;  // of the last steps, the later ones counting more; 0: of none
};

}  // namespace tokamak
