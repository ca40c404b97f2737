/// @file
/// threadIdx, blockIdx, blockDim and gridDim come with the runtime.
#pragma once

#include "cuda_runtime.h"
