/// @file
/// Of the driver API there is nothing here. Many programs include its header all the same, and use the runtime API.
#pragma once

#include "cuda_runtime.h"

#define CUDA_VERSION 12040
