// The file to send with a report of a fault: one JSON object, without names and folders of the
// person.
#pragma once
#include <functional>
#include <string>

#include "report/support/doctor.h"

namespace tokamak {

/// The program, the system, the variables that decide about devices, the findings of doctor and a
/// short benchmark of the built-in model on each device that works, compared with the reference.
/// `version` is the program's. Native programs only.
std::string support_file(const DoctorReport& report, std::string_view version,
                         const std::function<void(const std::string& doing)>& progress = {});

}  // namespace tokamak
