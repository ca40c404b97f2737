/// @file
/// Report 000's grading mode 4: is the matrix product right, and how fast is it?
#pragma once

namespace stagewise::grading {

/// Computes the report's two products, C = 2 A B + 5 C in double, by the kernel that training uses,
/// compares each with cuBLAS or, without cuBLAS, with stage 01's result, and prints a table.
/// @return 0 if both agree to 1e-7, else 1.
int grade_gemm();

}  // namespace stagewise::grading
