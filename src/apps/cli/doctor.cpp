#include "report/support/doctor.h"

#include "apps/cli/command.h"
#include "apps/cli/line/output_file.h"
#include "report/support/support_file.h"

namespace tokamak::cli {
namespace {

struct DoctorFlags {
  int device = -1;
  std::string backend, report;
  bool kernels = false, json = false;
};

Result<void> run_doctor(const DoctorFlags& flags) {
  DoctorScope scope;
  if (flags.device >= 0) scope.device = uint32_t(flags.device);
  if (!flags.backend.empty()) {
    scope.backend = flags.backend == "cuda" ? BackendKind::kCuda : BackendKind::kWebGpu;
  }
  std::optional<Waiting> waiting("looking for devices");
  std::function<void(const std::string&)> progress;
  // Without a terminal nobody sees it, and all kernels are compiled at the same time.
  if (stderr_is_terminal()) progress = [&](const std::string& doing) { waiting->say(doing); };
  TOK_TRY(check_output(flags.report));
  const auto report = examine(scope, progress);
  if (!report) return Failure(report.error());
  if (!flags.report.empty()) {
    const std::string text = support_file(*report, TOKAMAK_VERSION, progress);
    waiting.reset();
    TOK_TRY(write_output(flags.report, text));
  }
  waiting.reset();
  TOK_TRY(print(flags.json ? doctor_json(*report).dump(1) + "\n"
                           : doctor_text(*report, flags.kernels)));
  if (!flags.report.empty() && !flags.json) {
    TOK_TRY(print(fmt::format(
        "\n{} has all of this, the system and a short benchmark of each device, to be sent with a "
        "report of a fault.\n",
        flags.report)));
  }
  if (!report->healthy()) {
    return fail(ErrorCode::kDevice, "A device does not work as it should; see above.");
  }
  return {};
}

}  // namespace

void add_doctor(App& app, Action& action) {
  App* command =
      app.add_subcommand("doctor", "which devices work, and what to do about the others");
  command->footer(
      R"(Runs every kernel that a device can run on small awkward shapes and compares the results with
the CPU reference. Exit status 0: all devices that are there work; 5: one does not. A GPU takes seconds; a software
driver compiles each kernel first, which may take some minutes.
Examples:
  tokamak doctor
  tokamak doctor --backend cuda                     what CUDA has, and nothing else
  tokamak doctor --backend cuda --device 1 --kernels    every kernel of one device
  tokamak doctor --json
  tokamak doctor --report doctor.json               a file to send with a report of a fault)");
  auto flags = std::make_shared<DoctorFlags>();
  command->add_option("--backend", flags->backend, "only devices of cuda or of webgpu")
      ->type_name("NAME")
      ->check(one_of({"cuda", "webgpu"}));
  command
      ->add_option("--device", flags->device,
                   "only the device of this number, of each backend where --backend names none")
      ->check(in_range(0, 65535));
  Option* kernels = command->add_flag("--kernels", flags->kernels, "a line for every kernel");
  command->add_flag("--json", flags->json, "one JSON object, with every kernel")->excludes(kernels);
  command
      ->add_option("--report", flags->report,
                   "write one JSON object to FILE, with the system and a short benchmark of each "
                   "device, and without "
                   "names and folders of yours")
      ->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return run_doctor(*flags); }; });
}

}  // namespace tokamak::cli
