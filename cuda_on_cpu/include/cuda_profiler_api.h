/// @file
/// cudaProfilerStart() and cudaProfilerStop() are declared with the rest of the runtime API.
#pragma once

#include "cuda_runtime_api.h"
