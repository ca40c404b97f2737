/// @file
/// Where NVIDIA has declared a part of what is in curand_kernel.h.
#pragma once

#include <curand_kernel.h>
