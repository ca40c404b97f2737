/// @file
/// All of it is in the header of the other ending.
#pragma once

#include "cuda_fp16.h"
