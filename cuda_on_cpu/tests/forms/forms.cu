#include <stdexcept>
#include <utility>

#include "forms/forms.hpp"
#include "neighbour.cuh"

// How the launches are written is what this file is about.
// clang-format off

namespace forms {

// ------------------------------------------------------------------------------------ launches

namespace inner {
template <typename T, bool twice>
__global__ void add(int* sum, T n) {
  atomicAdd(sum, static_cast<int>(n) * (twice ? 2 : 1));
}
}  // namespace inner

__global__ void add_int(int* sum, int n) { atomicAdd(sum, n); }
__global__ void add_ten_times(int* sum, int n) { atomicAdd(sum, 10 * n); }
__global__ void add_block_size(int* sum) { if (threadIdx.x == 0) atomicAdd(sum, blockDim.x); }

template <int n>
__global__ void add_constant(int* sum) { atomicAdd(sum, n); }

template <typename T>
struct Holder { T value; };

template <typename T>
constexpr int size_of = sizeof(T);

template <typename T>
int blocks(int n) { return n + static_cast<int>(sizeof(T)) - 1; }

using Kernel = void (*)(int*, int);

Kernel pick(bool first) { return first ? add_int : add_ten_times; }

struct Object {
  Kernel kernel = add_int;
  int n = 3;
  void by_this(int* sum) { this->kernel<<<1, 2>>>(sum, this->n); }
};

#define LAUNCH(kernel, sum, n) kernel<<<1, 2>>>(sum, n)
#define LAUNCH_ON_SEVERAL_LINES(T, sum, ...) \
  do {                                       \
    inner::add<T, (sizeof(T) > 1)>           \
        /* "#" */                            \
        <<<1,                                \
           2>>>(sum, __VA_ARGS__);           \
  } while (false)

int twice(int n) { return 2 * n; }

/// Launches a kernel, and gives n on.
int through(int* sum, int n) { add_int<<<1, 1>>>(sum, n); return n; }

// -------------------------------------------------------------------------------- shared memory

__global__ void several_variables(int* sum) {
  __shared__ int a[2][3], b,
      *c;  // the second line of a declaration
  alignas(16) __shared__ float aligned[4];
  int __shared__ behind_its_type[2];
  [[maybe_unused]] static __shared__ volatile unsigned char v;
  if (threadIdx.x == 0) {
    a[1][2] = 5;
    b = 7;
    c = &a[1][2];
    v = 11;
    behind_its_type[1] = reinterpret_cast<std::size_t>(aligned) % 16 == 0 ? 13 : 0;
  }
  __syncthreads();
  atomicAdd(sum, *c + b + v + behind_its_type[1]);
}

template <typename T>
__global__ void dependent_type(int* sum, T n) {
  __shared__ decltype(Holder<T>::value) values[2];
  __shared__ Holder<Holder<Holder<T>>> nested;
  values[threadIdx.x] = n;
  if (threadIdx.x == 0) nested.value.value.value = n;
  __syncthreads();
  atomicAdd(sum, static_cast<int>(values[1 - threadIdx.x] + nested.value.value.value));
}

__global__ void dynamic_rows(int* sum) {
  extern __shared__ __align__(16) int rows[][3];
  rows[threadIdx.x][2] = static_cast<int>(threadIdx.x) + 1;
  __syncthreads();
  atomicAdd(sum, rows[1 - threadIdx.x][2]);
}

#define SHARED(T, name) __shared__ T name[2] \
                            [3]
__global__ void shared_by_macro(int* sum) {
  SHARED(int, a);
  a[1][threadIdx.x] = 4;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2; ++i) atomicAdd(sum, a[1][i]);
}

// ------------------------------------------------------------------------------------------- all

std::vector<Form> all_forms() {
  const Kernel pointers[] = {add_int, add_ten_times};
  return {
    {"Plain", [](int* sum) { add_int<<<3, 2>>>(sum, 1); }, 6},
    {"SeveralLines", [](int* sum) {
       inner::add<int,
                  false> // the kernel
           <<<1,         // blocks, <<< 1 >>>
              2,         /* threads
                            >>> */
              0>>>
           (sum,
            5);
     }, 10},
    {"TemplateArguments", [](int* sum) {
       inner::add<int, (1>0)><<<1, 2>>>(sum, 3);
       forms::inner::add<decltype(Holder<Holder<Holder<int>>>().value.value.value), 1 < (2)>
           <<<1, 1>>>(sum, 4);
       ::forms::add_constant<1 << 4><<<1, 1>>>(sum);
     }, 36},
    {"TemplatesInConfiguration", [](int* sum) {
       add_int<<<blocks<Holder<Holder<Holder<char>>>>(2), 1>>>(sum, 1);
       add_int<<<1, size_of<int> >>>(sum, 1);
       add_int<<<1, size_of<Holder<int>> >>>(sum, 1);
       add_int<<<sum != nullptr ? 1 << 1 : 3, 4 >> 1>>>(sum, 1);
     }, 14},
    {"CommentsAround", [](int* sum) { add_int/* a */<<</* < */1, 2 /* > */>>>/* b */(sum, 1 /* ) */); }, 2},
    {"DigitSeparators", [](int* sum) { add_int<<<1, 1>>>(sum, 1'000'000 + 0x1'0); }, 1'000'016},
    {"TwoInAStatement", [](int* sum) { add_int<<<1, 1>>>(sum, 1), add_int<<<2, 2>>>(sum, 2); }, 9},
    {"Choice", [](int* sum) {
       for (const bool first : {true, false}) first ? add_int<<<1, 1>>>(sum, 1):add_ten_times<<<1, 1>>>(sum, 1);
     }, 11},
    {"WithoutBraces", [](int* sum) {
       for (int i = 0; i < 2; ++i)
         if (i > 0) add_int<<<1, 1>>>(sum, i); else add_block_size<<<1, 5>>>(sum);
     }, 6},
    {"Pointers", [=](int* sum) {
       const Kernel pointer = pick(true);
       pointer<<<1, 1>>>(sum, 1);
       (*pointer)<<<1, 1>>>(sum, 2);
       if (sum != nullptr) (*pointers[1])<<<1, 1>>>(sum, 3);
       pointers[1]<<<1, 1>>>(sum, 4);
       pick(false)<<<1, 1>>>(sum, 5);
     }, 123},
    {"Member", [](int* sum) {
       Object object;
       object.by_this(sum);
       object.kernel<<<1, 1>>>(sum, 4);
       (&object)->kernel<<<1, 1>>>(sum, 5);
     }, 15},
    {"Lambda", [](int* sum) {
       const auto launch = [&](int n, auto kernel) { kernel<<<1, n>>>(sum, n); };
       launch(3, add_int);
       launch(2, add_ten_times);
     }, 49},
    {"Macro", [](int* sum) { LAUNCH(add_int, sum, 4); LAUNCH((*pick(false)), sum, 1); }, 28},
    {"MacroOfSeveralLines", [](int* sum) {
       LAUNCH_ON_SEVERAL_LINES(int, sum, 3);
       LAUNCH_ON_SEVERAL_LINES(char, sum, '\3');
     }, 18},
    {"NestedLaunches", [](int* sum) {
       add_int<<<1, [&] { add_int<<<1, 1>>>(sum, 1); return 2; }()>>>(sum, twice(through(sum, 10)));
     }, 51},
    {"ConditionalArguments", [](int* sum) {
       add_int<<<1, 1>>>(sum
#ifdef __cplusplus
                         , 6
#else
                         , 7
#endif
                        );
     }, 6},
    {"Header", [](int* sum) { launch_from_header(sum); }, 8},
    {"TileOfAnotherType", [](int* sum) { by_way_of_tile<int, 3><<<2, 3>>>(sum, 2); }, 12},
    {"SeveralVariables", [](int* sum) { several_variables<<<1, 2>>>(sum); }, 72},
    {"DependentType", [](int* sum) { dependent_type<<<1, 2>>>(sum, 2.5F); }, 10},
    {"DynamicRows", [](int* sum) { dynamic_rows<<<1, 2, 2 * 3 * sizeof(int)>>>(sum); }, 3},
    {"SharedByMacro", [](int* sum) { shared_by_macro<<<1, 2>>>(sum); }, 16},
  };
}

std::string texts() {
  const char quote = '"';  // '<<<' "
  return std::string("kernel<<<1, 1>>>(x); // \" __shared__ int y;") + quote + R"(k<<<1, "1>>>(x))" +
         R"x(__shared__ )" )x" + '\'' + "/* <<< */";
}

// clang-format on

int result_of(const Form& form) {
  const auto check = [](cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
  };
  int* sum = nullptr;
  check(cudaMalloc(&sum, sizeof(int)));
  check(cudaMemset(sum, 0, sizeof(int)));
  form.run(sum);
  check(cudaGetLastError());
  int result = 0;
  check(cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost));
  check(cudaFree(sum));
  return result;
}

}  // namespace forms
