#include "speech/device_losses.h"

#include "generate/steps/call_errors.h"

namespace tokamak {

Result<void> DeviceLosses::outlive(Program& program,
                                   const std::function<Result<void>()>& bring_back,
                                   const std::function<Result<void>()>& attempt) {
  for (uint32_t losses = 0;;) {
    const Result<void> status = [&]() -> Result<void> {
      if (is_lost_) {
        TOK_TRY(bring_back());
        is_lost_ = false;
      }
      return attempt();
    }();
    if (status || status.error().code != ErrorCode::kDeviceLost) return status;
    if (++losses == kMaxLosses) return given_up(status.error(), losses, "this call is");
    is_lost_ = true;
    TOK_TRY(program.restore(status.error()));
  }
}

}  // namespace tokamak
