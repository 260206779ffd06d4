// Admission: how many sequences may wait, and when one that may not should retry. Any thread
// may call it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "protocol/requests/api_error.h"

namespace tokamak::serve {

class Admission {
  struct Counts;

 public:
  /// The sequences of a request in flight, one at first. They leave with it.
  class Place {
   public:
    explicit Place(std::shared_ptr<Counts> counts);
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

    /// Makes it that many sequences, where there is room; else it stays as it is, and gives the
    /// seconds after which there will be.
    std::optional<uint32_t> widen(uint32_t sequences);
    /// The same for a request that turns out to be that many. Errors: 429. `whose` begins the limit
    /// in the message: "this key may have".
    protocol::Answer<void> admit(uint32_t sequences, std::string_view whose);
    /// They have ended, after that time.
    void end(double seconds);

   private:
    std::shared_ptr<Counts> counts_;
    uint32_t sequences_ = 1;
  };

  Admission(uint32_t at_once, uint32_t most_waiting);
  Admission(Admission&&) = default;  // a copy would count the same
  Admission& operator=(Admission&&) = default;

  /// Seconds after which there will be room for a request, where there is none now.
  std::optional<uint32_t> wait_seconds() const;
  std::shared_ptr<Place> begin() { return std::make_shared<Place>(counts_); }
  uint32_t in_flight() const;

 private:
  std::shared_ptr<Counts> counts_;
};

}  // namespace tokamak::serve
