// The entry points of the CUDA driver that src/backend/cuda/api.h names, for devices without
// hardware: everything is done at once, kernels by fibers (launches.cpp). Allocations end at a page
// that nobody may touch. TOKAMAK_EMULATED_FAULT=launch:17:719 lets the 17th launch, and every call
// after it, fail with error 719; TOKAMAK_EMULATED_ORDER=backward takes lanes the other way round;
// TOKAMAK_EMULATED_REFUSED=2 refuses the next two images of modules;
// TOKAMAK_EMULATED_ARCHITECTURE=130 says that devices are of compute capability 13.0;
// TOKAMAK_EMULATED_DEVICES=3 that there are three (one otherwise), TOKAMAK_EMULATED_NAME what they
// are called, TOKAMAK_EMULATED_PEERS=0 that none reads another's memory, TOKAMAK_EMULATED_BUSY=1
// that another program has them, TOKAMAK_EMULATED_MEMORY=1000 how many bytes of memory all of them
// have together, or 1000,500 each of them.
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "backend/cuda/api.h"
#include "state.h"

using namespace tokamak::cuda;
using namespace emulator;

namespace {

constexpr size_t kPage = 4096;

struct Mapping {
  void* start;
  size_t bytes;
  size_t wanted_bytes;
  size_t of;  // whose memory it is, as of memory_of()
};

struct RecordedEvent {
  std::chrono::steady_clock::time_point at;
};

std::mutex g_mutex;
std::map<DevicePointer, Mapping> g_memory;
constexpr size_t kMaxDevices = 8;
size_t g_used_bytes[kMaxDevices] = {};
/// A context is the place of its device here.
char g_contexts[kMaxDevices];
thread_local Device g_current = 0;

/// The sizes that are given, and a large one where none is.
std::vector<size_t> memories() {
  const char* given = std::getenv("TOKAMAK_EMULATED_MEMORY");
  if (given == nullptr) return {size_t{1} << 40};
  std::vector<size_t> all;
  std::stringstream list(given);
  for (std::string one; std::getline(list, one, ',');) {
    all.push_back(std::strtoull(one.c_str(), nullptr, 10));
  }
  return all;
}

/// The number of the memory that a device has: all have one where one size is given.
size_t memory_of(Device device) {
  return std::min(size_t(device), memories().size() - 1);
}

size_t total_bytes(Device device) {
  return memories()[memory_of(device)];
}

size_t pages(size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

/// The numbers of the devices that CUDA_VISIBLE_DEVICES leaves: up to the first that is none.
std::vector<Device> visible() {
  const char* given = std::getenv("TOKAMAK_EMULATED_DEVICES");
  const int count = given != nullptr ? std::min(std::atoi(given), int(kMaxDevices)) : 1;
  std::vector<Device> all;
  const char* asked = std::getenv("CUDA_VISIBLE_DEVICES");
  if (asked == nullptr) {
    for (int i = 0; i < count; ++i) all.push_back(i);
    return all;
  }
  std::stringstream list(asked);
  for (std::string one; std::getline(list, one, ',');) {
    const int number = std::atoi(one.c_str());
    if (std::to_string(number) != one || number < 0 || number >= count) break;
    all.push_back(number);
  }
  return all;
}

template <typename T>
T* as(DevicePointer address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace

extern "C" {

Status cuInit(unsigned) {
  return kOk;
}
Status cuDriverGetVersion(int* version) {
  *version = 13000;
  return kOk;
}
Status cuGetErrorName(Status status, const char** text) {
  *text = status == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_EMULATED";
  return kOk;
}
Status cuGetErrorString(Status, const char** text) {
  *text = "the emulator says so";
  return kOk;
}
Status cuDeviceGetCount(int* count) {
  *count = int(visible().size());
  return kOk;
}
Status cuDeviceGet(Device* device, int number) {
  const std::vector<Device> all = visible();
  if (number < 0 || size_t(number) >= all.size()) return kInvalidValue;
  *device = all[size_t(number)];
  return kOk;
}
Status cuDeviceGetName(char* name, int size, Device) {
  const bool is_backward = order() == Order::kBackward;
  const char* given = std::getenv("TOKAMAK_EMULATED_NAME");
  std::snprintf(name, size_t(size), "%s%s", given != nullptr ? given : "emulated CUDA device",
                is_backward ? ", backward" : "");
  return kOk;
}
Status cuDeviceGetUuid(DeviceUuid* uuid, Device device) {
  *uuid = {{0xe0, 0x01, 0x02, 0x03}};
  uuid->bytes[15] = static_cast<unsigned char>(device);
  return kOk;
}
Status cuDeviceGetPCIBusId(char* text, int size, Device device) {
  std::snprintf(text, size_t(size), "0000:%02X:00.0", unsigned(device) + 1);
  return kOk;
}
Status cuDeviceTotalMem(size_t* bytes, Device device) {
  *bytes = total_bytes(device);
  return kOk;
}
Status cuDeviceGetAttribute(int* value, Attribute attribute, Device) {
  const char* text = std::getenv("TOKAMAK_EMULATED_ARCHITECTURE");
  const int architecture = text != nullptr ? std::atoi(text) : 90;
  const std::map<Attribute, int> values = {{Attribute::kWarpSize, 32},
                                           {Attribute::kMultiprocessors, 132},
                                           {Attribute::kCacheBytes, 1 << 20},
                                           {Attribute::kMajor, architecture / 10},
                                           {Attribute::kMinor, architecture % 10}};
  const auto found = values.find(attribute);
  if (found == values.end()) return kInvalidValue;
  *value = found->second;
  return kOk;
}
Status cuDevicePrimaryCtxRetain(Context* context, Device device) {
  read_fault();
  *context = reinterpret_cast<Context>(&g_contexts[device]);
  return std::getenv("TOKAMAK_EMULATED_BUSY") != nullptr ? Status::kDeviceUnavailable : kOk;
}
Status cuDevicePrimaryCtxRelease(Device) {
  return kOk;
}
Status cuDevicePrimaryCtxReset(Device) {
  fault().has_failed = false;
  return kOk;
}
Status cuCtxSetCurrent(Context context) {
  if (context != nullptr) g_current = Device(reinterpret_cast<char*>(context) - g_contexts);
  return kOk;
}
Status cuDeviceCanAccessPeer(int* possible, Device reader, Device owner) {
  const char* peers = std::getenv("TOKAMAK_EMULATED_PEERS");
  const bool refused = peers != nullptr && std::atoi(peers) == 0;
  *possible = reader != owner && !refused ? 1 : 0;
  return kOk;
}
Status cuCtxEnablePeerAccess(Context, unsigned) {
  return kOk;
}

Status cuMemGetInfo(size_t* free, size_t* total) {
  const std::lock_guard lock(g_mutex);
  *total = total_bytes(g_current);
  *free = *total - std::min(*total, g_used_bytes[memory_of(g_current)]);
  return now();
}
Status cuMemAlloc(DevicePointer* memory, size_t bytes) {
  if (now() != kOk) return now();
  const std::lock_guard lock(g_mutex);
  const size_t of = memory_of(g_current);
  if (g_used_bytes[of] + bytes > total_bytes(g_current)) return Status::kOutOfMemory;
  const size_t room = pages(bytes);
  void* start =
      mmap(nullptr, room + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return Status::kOutOfMemory;
  mprotect(static_cast<char*>(start) + room, kPage, PROT_NONE);
  // After the last 16 bytes there is nothing.
  const size_t offset = room - (bytes + 15) / 16 * 16;
  *memory = reinterpret_cast<DevicePointer>(start) + offset;
  std::memset(as<void>(*memory), 0xff, bytes);
  g_memory[*memory] = {start, room + kPage, bytes, of};
  g_used_bytes[of] += bytes;
  return kOk;
}
Status cuMemFree(DevicePointer memory) {
  const std::lock_guard lock(g_mutex);
  const auto found = g_memory.find(memory);
  if (found == g_memory.end()) return kInvalidValue;
  munmap(found->second.start, found->second.bytes);
  g_used_bytes[found->second.of] -= found->second.wanted_bytes;
  g_memory.erase(found);
  return kOk;
}
Status cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return *memory == nullptr ? Status::kOutOfMemory : kOk;
}
Status cuMemFreeHost(void* memory) {
  std::free(memory);
  return kOk;
}
Status cuMemcpyDtoH(void* to, DevicePointer from, size_t bytes) {
  if (now() == kOk) std::memcpy(to, as<void>(from), bytes);
  return now();
}
Status cuMemcpyHtoDAsync(DevicePointer to, const void* from, size_t bytes, Stream) {
  if (now() == kOk) std::memcpy(as<void>(to), from, bytes);
  return now();
}
Status cuMemcpyDtoHAsync(void* to, DevicePointer from, size_t bytes, Stream) {
  return cuMemcpyDtoH(to, from, bytes);
}
Status cuMemcpyDtoDAsync(DevicePointer to, DevicePointer from, size_t bytes, Stream) {
  if (now() == kOk) std::memmove(as<void>(to), as<void>(from), bytes);
  return now();
}
Status cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes, Stream) {
  if (now() == kOk) std::memset(as<void>(to), value, bytes);
  return now();
}

Status cuStreamCreate(Stream* stream, unsigned) {
  *stream = reinterpret_cast<Stream>(&fault());
  return kOk;
}
Status cuStreamDestroy(Stream) {
  return kOk;
}
Status cuStreamSynchronize(Stream) {
  return now();
}
Status cuEventCreate(Event* event, unsigned) {
  *event = reinterpret_cast<Event>(new RecordedEvent);
  return kOk;
}
Status cuEventDestroy(Event event) {
  delete reinterpret_cast<RecordedEvent*>(event);
  return kOk;
}
Status cuEventRecord(Event event, Stream) {
  reinterpret_cast<RecordedEvent*>(event)->at = std::chrono::steady_clock::now();
  return now();
}
Status cuEventQuery(Event) {
  return now();
}
Status cuEventSynchronize(Event) {
  return now();
}
Status cuEventElapsedTime(float* milliseconds, Event from, Event to) {
  const auto passed =
      reinterpret_cast<RecordedEvent*>(to)->at - reinterpret_cast<RecordedEvent*>(from)->at;
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return kOk;
}

Status cuGetProcAddress_v2(const char* name, void** function, int, uint64_t, int*) {
  Dl_info own = {};
  dladdr(reinterpret_cast<void*>(&cuInit), &own);
  void* library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = dlsym(library, name);
  return *function == nullptr ? Status(500) : kOk;
}

}  // extern "C"
