/// @file
/// The functions of device code come with the runtime; editors include this header when one is used.
#pragma once

#include "cuda_runtime.h"
