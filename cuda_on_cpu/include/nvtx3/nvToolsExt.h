/// @file
/// Ranges for NVIDIA's profilers: without a GPU there is none to show them to.
#pragma once

#include <cstdint>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE (sizeof(nvtxEventAttributes_t))

enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
};
enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
};
using nvtxRangeId_t = std::uint64_t;
using nvtxDomainHandle_t = struct nvtxDomainRegistration_st*;
using nvtxStringHandle_t = struct nvtxStringRegistration_st*;
union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
};
struct nvtxEventAttributes_t {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t colorType;
  std::uint32_t color;
  std::int32_t payloadType, reserved0;
  union {
    std::uint64_t ullValue;
    std::int64_t llValue;
    double dValue;
    std::uint32_t uiValue;
    std::int32_t iValue;
    float fValue;
  } payload;
  std::int32_t messageType;
  nvtxMessageValue_t message;
};

/// What each function does: nothing, whatever it is given.
inline constexpr auto nvtxNothing = [](const auto&... /*ignored*/) { return 0; };
inline constexpr auto nvtxRangePushA = nvtxNothing;
inline constexpr auto nvtxRangePushW = nvtxNothing;
inline constexpr auto nvtxRangePushEx = nvtxNothing;
inline constexpr auto nvtxRangePop = nvtxNothing;
inline constexpr auto nvtxRangeStartA = nvtxNothing;
inline constexpr auto nvtxRangeStartEx = nvtxNothing;
inline constexpr auto nvtxRangeEnd = nvtxNothing;
inline constexpr auto nvtxMarkA = nvtxNothing;
inline constexpr auto nvtxMarkEx = nvtxNothing;
inline constexpr auto nvtxNameOsThreadA = nvtxNothing;
inline constexpr auto nvtxNameCategoryA = nvtxNothing;
inline constexpr auto nvtxDomainDestroy = nvtxNothing;
inline constexpr auto nvtxDomainRangePushEx = nvtxNothing;
inline constexpr auto nvtxDomainRangePop = nvtxNothing;
inline nvtxDomainHandle_t nvtxDomainCreateA(const char* /*name*/) { return nullptr; }
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxDomainCreate nvtxDomainCreateA
