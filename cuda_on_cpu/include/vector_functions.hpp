/// @file
/// The make_ functions come with the types.
#pragma once

#include "vector_types.h"
