/// @file
/// Where older programs look for ranges.
#pragma once

#include "nvtx3/nvToolsExt.h"
