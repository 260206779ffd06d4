// The functions of the CUDA driver, of NVRTC and of cuBLASLt that the backend uses: declared here,
// found at run time (library.h). This table is the seam of the backend: tests/emulator has
// functions of the same names that run kernels on the processor.
// docs/decisions/0035-cuda-at-run-time.md says why no header of CUDA's is used; api_test.cpp
// compares with one where there is one.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tokamak::cuda {

/// CUresult. The names of others come from the driver.
enum class Status : int {
  kSuccess = 0,
  kOutOfMemory = 2,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kNotReady = 600,
  kPeersAlready = 704,
};

/// CUdevice_attribute.
enum class Attribute : int {
  kWarpSize = 10,
  kMultiprocessors = 16,
  kCacheBytes = 38,  // of the second level
  kMajor = 75,       // of the compute capability
  kMinor = 76,
};

/// CUuuid.
struct DeviceUuid {
  unsigned char bytes[16] = {};
};

inline constexpr unsigned kStreamNonBlocking = 1;   // CU_STREAM_NON_BLOCKING
inline constexpr int kCaptureRelaxed = 2;           // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr unsigned kEventDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING
inline constexpr unsigned kHostAllocPortable = 1;   // CU_MEMHOSTALLOC_PORTABLE

using Device = int;
using DevicePointer = uint64_t;
using Context = struct ContextOf*;
using Stream = struct StreamOf*;
using Event = struct EventOf*;
using Module = struct ModuleOf*;
using Function = struct FunctionOf*;
using Graph = struct GraphOf*;
using GraphNode = struct GraphNodeOf*;
using GraphExec = struct GraphExecOf*;

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNodeParameters {
  Function function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  Context context = nullptr;
};
static_assert(sizeof(KernelNodeParameters) == 72);

/// CUgraphEdgeData.
struct GraphEdge {
  unsigned char from_port = 0, to_port = 0, type = 0;
  unsigned char reserved[5] = {};
};
static_assert(sizeof(GraphEdge) == 8);
inline constexpr unsigned char kEdgeProgrammatic = 1;  // CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
inline constexpr unsigned char kPortProgrammatic = 1;  // CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC

struct DriverApi {
  Status (*init)(unsigned flags);
  Status (*driver_version)(int* version);
  Status (*error_name)(Status status, const char** text);
  Status (*error_string)(Status status, const char** text);
  Status (*device_count)(int* count);
  Status (*device_get)(Device* device, int number);
  Status (*device_name)(char* name, int size, Device device);
  Status (*device_attribute)(int* value, Attribute attribute, Device device);
  Status (*device_uuid)(DeviceUuid* uuid, Device device);
  Status (*device_address)(char* text, int size, Device device);
  Status (*device_bytes)(size_t* bytes, Device device);
  Status (*context_retain)(Context* context, Device device);
  Status (*context_release)(Device device);
  Status (*context_reset)(Device device);
  Status (*context_set)(Context context);
  Status (*peers_possible)(int* possible, Device reader, Device owner);
  Status (*peers_enable)(Context owner, unsigned flags);
  Status (*memory_info)(size_t* free, size_t* total);
  Status (*memory_alloc)(DevicePointer* memory, size_t bytes);
  Status (*memory_free)(DevicePointer memory);
  Status (*host_alloc)(void** memory, size_t bytes, unsigned flags);
  Status (*host_free)(void* memory);
  Status (*copy_to_host)(void* to, DevicePointer from, size_t bytes);
  Status (*copy_to_device_async)(DevicePointer to, const void* from, size_t bytes, Stream stream);
  Status (*copy_to_host_async)(void* to, DevicePointer from, size_t bytes, Stream stream);
  Status (*copy_async)(DevicePointer to, DevicePointer from, size_t bytes, Stream stream);
  Status (*fill_async)(DevicePointer to, unsigned char value, size_t bytes, Stream stream);
  Status (*stream_create)(Stream* stream, unsigned flags);
  Status (*stream_destroy)(Stream stream);
  Status (*stream_synchronize)(Stream stream);
  Status (*capture_begin)(Stream stream, int mode);
  Status (*capture_end)(Stream stream, Graph* graph);
  Status (*event_create)(Event* event, unsigned flags);
  Status (*event_destroy)(Event event);
  Status (*event_record)(Event event, Stream stream);
  Status (*event_query)(Event event);
  Status (*event_synchronize)(Event event);
  Status (*event_elapsed)(float* milliseconds, Event from, Event to);
  Status (*module_load)(Module* module, const void* image);
  Status (*module_unload)(Module module);
  Status (*module_function)(Function* function, Module module, const char* name);
  Status (*module_global)(DevicePointer* address, size_t* bytes, Module module, const char* name);
  Status (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   Stream stream, void** parameters, void** extra);
  Status (*graph_create)(Graph* graph, unsigned flags);
  Status (*graph_add_kernel)(GraphNode* node, Graph graph, const GraphNode* before, size_t count,
                             const KernelNodeParameters* parameters);
  /// Null where the driver is older than 12.3.
  Status (*graph_add_dependencies)(Graph graph, const GraphNode* from, const GraphNode* to,
                                   const GraphEdge* edges, size_t count);
  Status (*graph_destroy)(Graph graph);
  Status (*graph_instantiate)(GraphExec* exec, Graph graph, unsigned long long flags);
  Status (*graph_launch)(GraphExec exec, Stream stream);
  Status (*graph_exec_destroy)(GraphExec exec);
};

/// nvrtcResult.
enum class CompileStatus : int { kSuccess = 0 };
using CompilerProgram = struct CompilerProgramOf*;

struct CompilerApi {
  CompileStatus (*version)(int* major, int* minor);
  CompileStatus (*architecture_count)(int* count);
  CompileStatus (*architectures)(int* all);
  const char* (*error_string)(CompileStatus status);
  CompileStatus (*create)(CompilerProgram* program, const char* text, const char* name,
                          int header_count, const char* const* headers,
                          const char* const* header_names);
  CompileStatus (*destroy)(CompilerProgram* program);
  CompileStatus (*compile)(CompilerProgram program, int count, const char* const* options);
  CompileStatus (*log_size)(CompilerProgram program, size_t* size);
  CompileStatus (*log)(CompilerProgram program, char* text);
  CompileStatus (*cubin_size)(CompilerProgram program, size_t* size);
  CompileStatus (*cubin)(CompilerProgram program, char* bytes);
  CompileStatus (*ptx_size)(CompilerProgram program, size_t* size);
  CompileStatus (*ptx)(CompilerProgram program, char* text);
};

/// cublasStatus_t.
enum class ProductStatus : int { kSuccess = 0 };
/// cudaDataType_t.
enum class NumberType : int { kF32 = 0, kF16 = 2, kBf16 = 14 };
inline constexpr int kSumInF32 = 68;        // CUBLAS_COMPUTE_32F
inline constexpr int kTransposed = 1;       // CUBLAS_OP_T
inline constexpr int kProductTransA = 3;    // CUBLASLT_MATMUL_DESC_TRANSA
inline constexpr int kProductEpilogue = 7;  // CUBLASLT_MATMUL_DESC_EPILOGUE
inline constexpr int kProductBias = 8;      // CUBLASLT_MATMUL_DESC_BIAS_POINTER
inline constexpr int kAddsBias = 4;         // CUBLASLT_EPILOGUE_BIAS
inline constexpr int kMaxWorkspace = 1;     // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES

using ProductHandle = struct ProductHandleOf*;
using ProductKind = struct ProductKindOf*;
using MatrixLayout = struct MatrixLayoutOf*;
using ProductPreference = struct ProductPreferenceOf*;

/// cublasLtMatmulAlgo_t.
struct ProductAlgorithm {
  uint64_t data[8] = {};
};
/// cublasLtMatmulHeuristicResult_t.
struct ProductChoice {
  ProductAlgorithm algorithm;
  size_t workspace_bytes = 0;
  ProductStatus status = ProductStatus::kSuccess;
  float waves = 0;
  int reserved[4] = {};
};
static_assert(sizeof(ProductChoice) == 96);

/// D = alpha op(A) op(B) + beta C, whose matrices are stored column by column.
struct ProductApi {
  size_t (*version)();
  ProductStatus (*create)(ProductHandle* handle);
  ProductStatus (*destroy)(ProductHandle handle);
  ProductStatus (*kind_create)(ProductKind* kind, int compute, NumberType scale);
  ProductStatus (*kind_set)(ProductKind kind, int attribute, const void* value, size_t bytes);
  ProductStatus (*kind_destroy)(ProductKind kind);
  ProductStatus (*layout_create)(MatrixLayout* layout, NumberType type, uint64_t rows,
                                 uint64_t columns, int64_t pitch);
  ProductStatus (*layout_destroy)(MatrixLayout layout);
  ProductStatus (*preference_create)(ProductPreference* preference);
  ProductStatus (*preference_set)(ProductPreference preference, int attribute, const void* value,
                                  size_t bytes);
  ProductStatus (*preference_destroy)(ProductPreference preference);
  ProductStatus (*choose)(ProductHandle handle, ProductKind kind, MatrixLayout a, MatrixLayout b,
                          MatrixLayout c, MatrixLayout d, ProductPreference preference, int most,
                          ProductChoice* choices, int* count);
  ProductStatus (*multiply)(ProductHandle handle, ProductKind kind, const void* alpha,
                            DevicePointer a, MatrixLayout a_layout, DevicePointer b,
                            MatrixLayout b_layout, const void* beta, DevicePointer c,
                            MatrixLayout c_layout, DevicePointer d, MatrixLayout d_layout,
                            const ProductAlgorithm* algorithm, DevicePointer workspace,
                            size_t workspace_bytes, Stream stream);
};

}  // namespace tokamak::cuda
