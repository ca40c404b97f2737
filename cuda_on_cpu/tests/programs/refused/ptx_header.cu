// A part of libcu++ that is not modelled.
#include <cuda/ptx>

int main() {}
