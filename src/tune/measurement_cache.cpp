#include "tune/measurement_cache.h"

#include "base/hash.h"
#include "formats/native_files.h"
#include "kernels/sources.h"

namespace tokamak {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{16} << 20;

std::string hash_text(std::string_view text) {
  return fmt::format("{:016x}", hash_bytes(std::span(text)));
}

Json describe(const DeviceInfo& device) {
  const DeviceLimits& limits = device.limits;
  Json out;
  out.set("backend", backend_name(device.backend)).set("name", device.name);
  out.set("driver", device.driver).set("features", features_text(device.features));
  out.set("subgroups", Json::Array{device.subgroup_min, device.subgroup_max});
  out.set("limits",
          Json::Array{limits.workgroup_threads, limits.workgroup_bytes, limits.storage_buffers,
                      limits.grid_dimension, limits.binding_bytes, limits.buffer_bytes});
  out.set("multiprocessors", device.size.multiprocessors);
  return out.set("kernels", kernel_sources_hash());
}

}  // namespace

MeasurementCache::MeasurementCache(std::string folder, const CacheKind& kind,
                                   const DeviceInfo& device)
    : folder_(std::move(folder)), kind_(kind), device_(describe(device)) {
  name_ = hash_text(device_.dump()) + std::string(kind.ending);
  if (!folder_.empty()) path_ = folder_ + "/" + name_;
}

Json MeasurementCache::read() const {
  if (path_.empty() || !file_exists(path_)) return {};
  const auto text = read_text_file(path_, kMaxBytes);
  if (!text) return {};
  const auto json = Json::parse(*text);
  if (!json) return {};
  const Json *device = json->find("device"), *sum = json->find("sum"), *cache = json->find("notes");
  if (device == nullptr || sum == nullptr || cache == nullptr || *device != device_) return {};
  if (*sum != Json(hash_text(cache->dump()))) return {};
  FileCache::mark_used(path_);
  return *cache;
}

bool MeasurementCache::write(const Json& cache) const {
  Json out;
  out.set("device", device_).set("sum", hash_text(cache.dump())).set("notes", cache);
  const std::string text = out.dump(1) + '\n';
  return FileCache(folder_, kind_).write(name_, {std::as_bytes(std::span(text))});
}

}  // namespace tokamak
