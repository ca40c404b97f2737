/// @file
/// For programs that name CUDA's backend, which is the C++ one here.
#pragma once

#include <thrust/system/cpp/execution_policy.h>
