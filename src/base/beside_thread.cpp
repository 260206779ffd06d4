#include <thread>

#include "base/beside.h"

namespace tokamak {

struct Beside::Thread {
  std::thread own;
};

Beside::Beside(std::function<void()> work)
    : thread_(std::make_unique<Thread>(std::thread(std::move(work)))) {}

Beside::~Beside() {
  wait();
}

void Beside::wait() {
  if (thread_->own.joinable()) thread_->own.join();
}

}  // namespace tokamak
