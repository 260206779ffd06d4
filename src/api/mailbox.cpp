#include "api/mailbox.h"

#include "api/stream_loop.h"

namespace tokamak {

void Mailbox::announce() {
  arrived_.notify_all();
  const std::scoped_lock lock(notifying_);
  if (is_dropped_) return;
  const auto ready = ready_;  // which may put another one in its place
  if (ready) ready();
}

void Mailbox::on_ready(std::function<void()> ready, const std::function<bool()>& has_come) {
  const std::scoped_lock lock(notifying_);
  ready_ = std::move(ready);
  const auto comes = [&] {
    const std::scoped_lock own(mutex);
    return has_come();
  };
  const auto own = ready_;
  if (own && comes()) own();
}

void Mailbox::drop() {
  is_cancelled = true;
  const std::scoped_lock lock(notifying_);
  is_dropped_ = true;
}

bool Mailbox::wait(std::optional<std::chrono::nanoseconds> timeout,
                   const std::function<bool()>& has_come) {
  using Steady = std::chrono::steady_clock;
  std::optional<Steady::time_point> deadline;
  // A time beyond a year counts as for ever: no sum of clock and duration may overflow.
  if (timeout && *timeout < std::chrono::years(1)) deadline = Steady::now() + *timeout;
  std::unique_lock lock(mutex);
  if (const auto own = pump.lock()) {
    while (!has_come() && !(deadline && Steady::now() >= *deadline)) {
      lock.unlock();
      own->loop().turn(true);
      lock.lock();
    }
    return has_come();
  }
  if (deadline) return arrived_.wait_until(lock, *deadline, has_come);
  arrived_.wait(lock, has_come);
  return true;
}

}  // namespace tokamak
