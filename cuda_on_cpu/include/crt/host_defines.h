/// @file
/// The qualifiers come with the runtime.
#pragma once

#include "../cuda_runtime.h"
