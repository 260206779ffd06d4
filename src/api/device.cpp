#include "tokamak/device.h"

#include "backend/cuda/device.h"
#include "backend/webgpu/adapters.h"
#include "engine/engine.h"

namespace tokamak {
namespace {

void add(DeviceList& list, uint32_t number, const DeviceInfo& info) {
  list.devices.push_back({.backend = std::string(backend_name(info.backend)),
                          .number = number,
                          .name = info.name,
                          .driver = info.driver,
                          .is_software = info.software});
}

}  // namespace

DeviceList list_devices() {
  DeviceList list;
  if (const auto cuda = list_cuda_devices()) {
    for (uint32_t i = 0; i < cuda->size(); ++i) add(list, i, (*cuda)[i].info);
  } else {
    list.cuda_problem = cuda.error().message;
  }
  if (const auto webgpu = list_webgpu_devices()) {
    for (uint32_t i = 0; i < webgpu->size(); ++i) add(list, i, (*webgpu)[i]);
  } else {
    list.webgpu_problem = webgpu.error().message;
  }
  add(list, 0, make_processor_backend({})->device());
  return list;
}

}  // namespace tokamak
