/// @file
/// The pipelines, and the functions that they are made of.
#pragma once

#include "cuda/pipeline"
#include "cuda_pipeline_primitives.h"
