/* WebGPU's C functions, loaded at run time, with WebGPU's types.
 *
 * The header is Dawn's of late 2025. Libraries of two ABIs match it, see tsr_wgpu_abi; library.c
 * handles their differences. */
#ifndef TSR_WEBGPU_WGPU_H
#define TSR_WEBGPU_WGPU_H

#define WGPU_SKIP_DECLARATIONS
#include <webgpu/webgpu.h>

#define TSR_WGPU_FUNCTIONS(X)                                                                      \
    X(CreateInstance)                                                                              \
    X(InstanceAddRef)                                                                              \
    X(InstanceRelease)                                                                             \
    X(InstanceHasWGSLLanguageFeature)                                                              \
    X(InstanceRequestAdapter)                                                                      \
    X(InstanceProcessEvents)                                                                       \
    X(InstanceWaitAny)                                                                             \
    X(AdapterGetInfo)                                                                              \
    X(AdapterInfoFreeMembers)                                                                      \
    X(AdapterGetLimits)                                                                            \
    X(AdapterHasFeature)                                                                           \
    X(AdapterRequestDevice)                                                                        \
    X(AdapterGetInstance)                                                                          \
    X(AdapterRelease)                                                                              \
    X(DeviceAddRef)                                                                                \
    X(DeviceGetAdapter)                                                                            \
    X(DeviceGetLimits)                                                                             \
    X(DeviceHasFeature)                                                                            \
    X(DeviceGetLostFuture)                                                                         \
    X(DeviceGetQueue)                                                                              \
    X(DeviceCreateBuffer)                                                                          \
    X(DeviceCreateShaderModule)                                                                    \
    X(DeviceCreateBindGroupLayout)                                                                 \
    X(DeviceCreatePipelineLayout)                                                                  \
    X(DeviceCreateComputePipelineAsync)                                                            \
    X(DeviceCreateBindGroup)                                                                       \
    X(DeviceCreateCommandEncoder)                                                                  \
    X(DeviceCreateQuerySet)                                                                        \
    X(DevicePushErrorScope)                                                                        \
    X(DevicePopErrorScope)                                                                         \
    X(DeviceDestroy)                                                                               \
    X(DeviceRelease)                                                                               \
    X(QueueSubmit)                                                                                 \
    X(QueueWriteBuffer)                                                                            \
    X(QueueOnSubmittedWorkDone)                                                                    \
    X(QueueRelease)                                                                                \
    X(BufferMapAsync)                                                                              \
    X(BufferGetConstMappedRange)                                                                   \
    X(BufferGetMappedRange)                                                                        \
    X(BufferUnmap)                                                                                 \
    X(BufferDestroy)                                                                               \
    X(BufferRelease)                                                                               \
    X(ShaderModuleRelease)                                                                         \
    X(BindGroupLayoutRelease)                                                                      \
    X(PipelineLayoutRelease)                                                                       \
    X(ComputePipelineRelease)                                                                      \
    X(BindGroupRelease)                                                                            \
    X(CommandEncoderBeginComputePass)                                                              \
    X(CommandEncoderCopyBufferToBuffer)                                                            \
    X(CommandEncoderCopyBufferToTexture)                                                           \
    X(CommandEncoderResolveQuerySet)                                                               \
    X(CommandEncoderFinish)                                                                        \
    X(CommandEncoderRelease)                                                                       \
    X(CommandBufferRelease)                                                                        \
    X(ComputePassEncoderSetPipeline)                                                               \
    X(ComputePassEncoderSetBindGroup)                                                              \
    X(ComputePassEncoderDispatchWorkgroups)                                                        \
    X(ComputePassEncoderEnd)                                                                       \
    X(ComputePassEncoderRelease)                                                                   \
    X(QuerySetDestroy)                                                                             \
    X(QuerySetRelease)

typedef enum tsr_wgpu_abi {
    TSR_WGPU_MID_2025, /* Dawn of mid 2025: other feature numbers, another instance description */
    TSR_WGPU_HEADER,   /* as the header has it */
} tsr_wgpu_abi;

typedef struct tsr_wgpu {
#define TSR_WGPU_MEMBER(name) WGPUProc##name name;
    TSR_WGPU_FUNCTIONS(TSR_WGPU_MEMBER)
#undef TSR_WGPU_MEMBER
    WGPUProcDeviceForceLoss DeviceForceLoss; /* for tests; NULL if the library has none */
    tsr_wgpu_abi abi;
} tsr_wgpu;

#endif
