// A program whose other half is missing.
#include <stdio.h>

#include "../common/book_of_helpers.h"

int main(void) {
  HANDLE_ERROR(cudaDeviceSynchronize());
  return 0;
}
