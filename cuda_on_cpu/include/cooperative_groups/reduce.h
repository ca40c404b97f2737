/// @file
/// Reductions come with the groups.
#pragma once

#include "../cooperative_groups.h"
