/// @file
/// What there is of this comes with the runtime.
#pragma once

#include "cuda_runtime.h"
