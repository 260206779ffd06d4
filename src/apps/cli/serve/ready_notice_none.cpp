// There is no systemd here.
#include "apps/cli/serve/ready_notice.h"

namespace tokamak::cli {

void notify_systemd(std::string_view) {}

}  // namespace tokamak::cli
