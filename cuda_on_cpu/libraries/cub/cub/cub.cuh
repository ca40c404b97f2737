/// @file
/// CUB: what warps, blocks and whole arrays do together. compile.sh has this instead of CUB's smaller headers, too.
#pragma once

#include "detail/block.cuh"
#include "detail/device.cuh"
