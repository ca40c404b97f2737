// A header of the toolkit that is not modelled.
#include <cuda_fp8.h>

int main(void) {}
