#include "report/support/doctor.h"

#include <gtest/gtest.h>

#include "report/support/known_drivers.h"

namespace tokamak {
namespace {

DeviceReport gpu(const std::string& name, bool software = false) {
  DeviceReport report;
  report.index = 0;
  report.device.backend = BackendKind::kWebGpu;
  report.device.name = name;
  report.device.software = software;
  report.device.features = kFeatureF16 | kFeatureSubgroups;
  return report;
}

GraphicsSystem good_system() {
  GraphicsSystem system;
  system.known = true;
  system.render_nodes = {"/dev/dri/renderD128"};
  system.manifests = {"/usr/share/vulkan/icd.d/radeon_icd.json"};
  return system;
}

std::string advice_of(std::vector<DeviceReport> devices, const GraphicsSystem& system) {
  std::string all;
  const DoctorReport report{.devices = std::move(devices), .system = system};
  for (const std::string& sentence : advice(report)) all += sentence;
  return all;
}

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" lacks \"" << part << "\"";
}

TEST(DoctorAdvice, IsSilentWhenAGpuWorks) {
  EXPECT_EQ(advice_of({gpu("Radeon")}, good_system()), "");
}

TEST(DoctorAdvice, NamesTheMissingVulkanLoader) {
  GraphicsSystem system = good_system();
  system.vulkan_problem = "libvulkan.so.1: no such file";
  system.vulkan_advice = "Install it.";
  const std::string text = advice_of({}, system);
  EXPECT_TRUE(has(text, "Vulkan loader is missing (libvulkan.so.1: no such file). Install it."));
  EXPECT_FALSE(has(text, "Mesa 22.3"));
}

TEST(DoctorAdvice, ConcludesNothingFromFilesThatASystemDoesNotHave) {
  GraphicsSystem system = {.known = true, .are_files = false};
  EXPECT_EQ(advice_of({}, system), "");
}

TEST(DoctorAdvice, DistinguishesAnOldMesaFromNoDriver) {
  GraphicsSystem system = good_system();
  EXPECT_TRUE(has(advice_of({}, system), "Mesa 22.3"));
  system.manifests.clear();
  EXPECT_TRUE(has(advice_of({}, system), "No Vulkan driver is installed"));
}

TEST(DoctorAdvice, ReportsWhyAnNvidiaGpuIsNotOffered) {
  GraphicsSystem system = good_system();
  system.nvidia_version = "580.95.05";
  system.nvidia_problem = "libX11.so.6: cannot open";
  EXPECT_TRUE(has(advice_of({}, system), "libnvidia-gl-580"));
  EXPECT_TRUE(has(advice_of({}, system), "libX11.so.6: cannot open"));
  system.nvidia_problem.clear();
  EXPECT_TRUE(has(advice_of({}, system), "no nvidia_icd.json"));
  EXPECT_EQ(advice_of({gpu("NVIDIA H200")}, system), "");
}

TEST(DoctorAdvice, ReportsThatASoftwareDeviceIsSlow) {
  EXPECT_TRUE(has(advice_of({gpu("llvmpipe", true)}, good_system()), "Only a software device"));
  GraphicsSystem bare = good_system();
  bare.render_nodes.clear();
  EXPECT_TRUE(has(advice_of({gpu("llvmpipe", true)}, bare), "shows no GPU"));
}

TEST(DoctorAdvice, NamesNodesThatMayNotBeOpened) {
  GraphicsSystem system = good_system();
  system.closed_nodes = system.render_nodes;
  EXPECT_TRUE(has(advice_of({gpu("Radeon")}, system), "/dev/dri/renderD128"));
}

TEST(DoctorAdvice, ReportsHowToDoWithoutTheKernelsThatFail) {
  DeviceReport device = gpu("Radeon");
  device.self_test.kernels.push_back({"linear.wgsl.matmul_f16", 3, "element 0 is 1", ""});
  EXPECT_TRUE(has(advice_of({device}, good_system()), "--no-f16"));
  device.self_test.kernels[0].kernel = "linear.wgsl.matrix";
  EXPECT_TRUE(has(advice_of({device}, good_system()), "--no-matrix"));
  device.self_test.kernels[0].kernel = "rms_norm.wgsl.subgroup";
  EXPECT_TRUE(has(advice_of({device}, good_system()), "--no-subgroups"));
  device.self_test.kernels[0].kernel = "add.wgsl";
  EXPECT_TRUE(has(advice_of({device}, good_system()), "do not use it"));
}

TEST(DoctorAdvice, MentionsMissingF16) {
  DeviceReport device = gpu("Old");
  device.device.features = kFeatureSubgroups;
  EXPECT_TRUE(has(advice_of({device}, good_system()), "no f16"));
}

TEST(DoctorReport, ReportsHowLargeADeviceIsAndHowThatIsKnown) {
  DoctorReport report{.devices = {gpu("A")}, .system = good_system()};
  EXPECT_TRUE(
      has(doctor_text(report, false),
          "64 multiprocessors (assumed); if it has others, TOKAMAK_MULTIPROCESSORS=n says"));
  report.devices[0].device.size = {132, uint64_t{50} << 20, "listed for H200"};
  EXPECT_TRUE(has(doctor_text(report, false),
                  "132 multiprocessors, 50.00 MiB of second-level cache (listed for H200)\n"));
  const std::string json = doctor_json(report).dump();
  EXPECT_TRUE(has(json, "\"multiprocessors\": 132"));
  EXPECT_TRUE(has(json, "\"size_source\": \"listed for H200\""));
}

TEST(DoctorReport, IsUnhealthyWhenOneDeviceFails) {
  DoctorReport report{.devices = {gpu("A"), gpu("B")}, .system = good_system()};
  EXPECT_TRUE(report.healthy());
  EXPECT_TRUE(has(doctor_text(report, false), "Models run on device 0"));
  report.devices[1].self_test.kernels.push_back({"add.wgsl", 1, "element 0 is 1", ""});
  EXPECT_FALSE(report.healthy());
  EXPECT_TRUE(has(doctor_text(report, false), "wrong    add.wgsl: element 0 is 1"));
  EXPECT_TRUE(has(doctor_json(report).dump(), "\"failed\": 1"));
}

TEST(DoctorReport, NamesTheDeviceThatAutoTakes) {
  DeviceReport processor;
  processor.device.backend = BackendKind::kCpu;
  DoctorReport report{.devices = {gpu("llvmpipe", true), processor}, .system = good_system()};
  EXPECT_TRUE(has(doctor_text(report, false), "Models run on the CPU unless"));
  report.devices.push_back(gpu("Radeon"));
  report.devices.back().index = 1;
  EXPECT_TRUE(has(doctor_text(report, false), "Models run on device 1 unless"));
}

TEST(DoctorReport, NamesWhatOthersSawOfADriver) {
  DeviceReport adreno = gpu("Adreno (TM) 740");
  adreno.device.driver = "Vulkan, Qualcomm 512.744";
  const DoctorReport report{.devices = {adreno}, .system = good_system()};
  EXPECT_TRUE(has(doctor_text(report, false), "others saw"));
  EXPECT_TRUE(has(doctor_text(report, false), "refused (https://github.com/"));
  EXPECT_TRUE(has(doctor_json(report).dump(), "\"symptom\": \"wrong texts\""));
  EXPECT_TRUE(known_faults(gpu("Adreno emulation", true).device).empty());
  EXPECT_TRUE(known_faults(gpu("NVIDIA H200").device).empty());
}

TEST(DoctorReport, ReportsWhyCudaIsNotUsedOrWhatCompilesForIt) {
  DoctorReport report{.devices = {gpu("A")}, .system = good_system()};
  report.cuda_problem = "libcuda.so.1 is not there.";
  EXPECT_TRUE(has(doctor_text(report, false), "CUDA is not used\n  libcuda.so.1 is not there.\n"));
  EXPECT_TRUE(has(doctor_json(report).dump(), "\"cuda_problem\": \"libcuda.so.1 is not there.\""));
  report.cuda_problem.clear();
  report.cuda_compiler = "NVRTC 13.0 (libnvrtc.so.13)";
  DeviceReport cuda = gpu("H200");
  cuda.device.backend = BackendKind::kCuda;
  report.devices.push_back(cuda);
  EXPECT_TRUE(has(doctor_text(report, false), "CUDA is compiled by NVRTC 13.0 (libnvrtc.so.13)\n"));
  EXPECT_TRUE(has(doctor_text(report, false), "Models run on CUDA device 0 unless"));
  report.is_part = true;
  EXPECT_FALSE(has(doctor_text(report, false), "Models run on"));
}

DeviceReport cuda_device(uint32_t index, bool is_slice = false) {
  DeviceReport report = gpu("H100");
  report.index = index;
  report.device.backend = BackendKind::kCuda;
  report.place = {is_slice ? "MIG-1" : "GPU-1", "0000:1B:00.0", uint64_t{80} << 30, is_slice};
  return report;
}

TEST(DoctorReport, DistinguishesCudaDevices) {
  DoctorReport report{.devices = {cuda_device(0)}, .system = good_system()};
  EXPECT_TRUE(has(doctor_text(report, false), "0000:1B:00.0, GPU-1, 80.00 GiB of memory"));
  EXPECT_TRUE(advice(report).empty());
  const std::string json = doctor_json(report).dump();
  EXPECT_TRUE(has(json, "\"uuid\": \"GPU-1\""));
  EXPECT_TRUE(has(json, "\"cuda_visible_devices\": null"));
  report.devices.push_back(cuda_device(1));
  EXPECT_TRUE(has(doctor_text(report, false), "CUDA numbers its devices by speed"));
  report.links = {{.reader = 0, .owner = 1, .bytes_per_second = 388e9},
                  {.reader = 1, .owner = 0, .problem = "They have no link."}};
  EXPECT_TRUE(has(doctor_text(report, false), "  0 from 1   388 GB/s\n  1 from 0   none: They"));
  EXPECT_TRUE(has(doctor_json(report).dump(), "\"bytes_per_second\": 388000000000"));
  report.cuda_order = "PCI_BUS_ID";
  EXPECT_TRUE(advice(report).empty());
  report.devices[1].self_test.kernels.push_back({"add.cuda", 1, "element 0 is 1", ""});
  EXPECT_TRUE(has(doctor_text(report, false), "* CUDA device 1 (H100) computes wrongly in add"));
}

TEST(DoctorReport, ExplainsWhichGpusCudaNumbers) {
  DoctorReport report{.devices = {cuda_device(0)}, .system = good_system()};
  report.cuda_visible = "2";
  report.nvidia_gpus = 4;
  EXPECT_TRUE(has(doctor_text(report, false),
                  "CUDA_VISIBLE_DEVICES is \"2\": CUDA numbers what it names, from 0 on in its "
                  "order (4 in the machine). WebGPU does not read it."));
  EXPECT_TRUE(has(doctor_json(report).dump(), "\"cuda_visible_devices\": \"2\""));
  report.devices = {cuda_device(0, true)};
  EXPECT_TRUE(has(doctor_text(report, false), "CUDA device 0 is a slice of a divided GPU (MIG)"));
}

}  // namespace
}  // namespace tokamak
