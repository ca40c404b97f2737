// Texts that look like CUDA and are none, and CUDA between them. This file has line ends of DOS. Größe: 3 µm ✓
//> 3 2 5 µm
//> 7 __shared__ is a word // here
//> elsewhere.cu:500
#include <string>

#include "expect.h"

/* kernel<<<1, 1>>>(x); __shared__ int y = 1; */
static const char *const usage = R"help(
  usage: launch kernel<<<grid, block>>>(args) // not a comment
  __shared__ float "tile[32];
)help";

__device__ const char letters[] = {'<', '<', '<', '"', '\'', '\0'};
__constant__ int thousand = 1'000;

#define STRINGIFY(...) #__VA_ARGS__
#define NAME(...) STRINGIFY(__VA_ARGS__)

__global__ void count(const char *text, int length, char wanted, int *result)
{
    int i = threadIdx.x;   // >>> <<<
    if (i < length && text[i] == wanted)
        atomicAdd(result, 0b1);
    if (i == 0 && letters[3] != '"')
        *result = -thousand;
}

static int counted(const std::string &text, char wanted)
{
    char *d = zeros<char>(text.size() + 1);
    int *n = zeros<int>(1);
    memcpy(d, text.c_str(), text.size());
    count<<<1, 0x100>>>(d, (int)text.size(), wanted, n);
    OK(cudaDeviceSynchronize());
    return *n;
}

int main()
{
    std::string größe = "µm";
    printf("%d %d %d %s\n", counted(usage, '<'), counted("kernel<<<1, 1>>>(\"x\")", '"'),
           counted(NAME(count<<<1, 2>>>(a << b, c >> d)), '>'), größe.c_str());
    printf("%zu %s\n", strlen("a\"<<<\"b"), "__shared__ " "is a word // here");
#line 500 "elsewhere.cu"
    printf("%s:%d\n", __FILE__, __LINE__);
    return 0;
}
