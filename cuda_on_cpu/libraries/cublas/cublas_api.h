/// @file
/// Where NVIDIA has declared what is in cublas_v2.h.
#pragma once

#include <cublas_v2.h>
