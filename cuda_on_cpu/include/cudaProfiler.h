/// @file
/// As <cuda_profiler_api.h>; the functions of the driver API are not there.
#pragma once

#include "cuda_profiler_api.h"
