#!/usr/bin/env bash
# check.sh COMMAND...: tries programs that lie outside of the repository by this command, `run.sh try` or `try.sh`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
try=("$@")

# expect CODE SENTENCE REGEX ARGUMENTS...: runs the command, which must end so, say the sentence on stderr, and print a line
# like this; what it prints is in $output.
expect() {
  local wanted=$1 sentence=$2 regex=$3 code=0
  shift 3
  output=$("${try[@]}" "$@" 2>said) || code=$?
  if [[ $code -ne $wanted ]] || ! grep -qE -- "$regex" <<<"$output" ||
    { [[ -n $sentence ]] && ! grep -qF -- "$sentence" said; } || grep -qE 'core dumped|program\.(ii|cpp)' said; then
    printf '%s: exit code %s instead of %s, or not the sentence "%s" and "%s" in:\n' "$*" "$code" "$wanted" "$sentence" "$regex" >&2
    cat said >&2
    echo "$output" >&2
    exit 1
  fi
}

mkdir "a folder"
cat >"a folder/right.cu" <<'END'
#include <concepts>
#include <cstdio>
#include "twice.cuh"
template <std::integral T> // of C++20
__global__ void kernel(T* x) {
  if (threadIdx.x >= 32) return; // since Volta, no barrier waits for these
  __syncthreads();
  if (__ballot_sync(0xffffffff, threadIdx.x < 7) == 127) x[threadIdx.x] = twice(threadIdx.x);
}
int main(int argc, char** argv) {
  int *x, host[32];
  cudaMalloc(&x, sizeof(host));
  kernel<<<1, 40>>>(x);
  cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d %s\ntook 0.%d ms\n", host[31], argc > 1 ? argv[1] : "-", int(size_t(host) % 1000));
  return argc > 1 ? 7 : 0;
}
END
echo '__device__ int twice(int x) { return FACTOR * x; }' >"a folder/twice.cuh"
cat >beyond.cu <<'END'
__global__ void kernel(float* x) {
  __shared__ float s[32];
  s[threadIdx.x + 1] = threadIdx.x;
  x[threadIdx.x] = 0;
}
int main() {
  float* x;
  cudaMalloc(&x, 32 * sizeof(float));
  kernel<<<1, 32>>>(x);
  return cudaDeviceSynchronize();
}
END
printf 'int main() {\n  return wrong;\n}\n' >error.cu
printf '#include <cstdlib>\nint main() { abort(); }\n' >aborts.cu
cat >hello.cu <<'END'
#include <cstdio>
__global__ void hello() {
  printf("%d ", threadIdx.x);
  __syncthreads();
  printf("hello from thread %d\n", threadIdx.x);
}
int main() {
  hello<<<1, 3>>>();
  cudaDeviceSynchronize();
}
END
cat >sorts.cu <<'END'
#include <cstdio>
__global__ void compact(int* values, int* size) { values[atomicAdd(size, 1)] = threadIdx.x; }
int main() {
  int* values;
  cudaMallocManaged(&values, 33 * sizeof(int));
  values[32] = 0;
  compact<<<1, 32>>>(values, values + 32);
  cudaDeviceSynchronize();
  printf("begin\n");
  for (int i = 0; i < 32; ++i) printf("%d\n", values[i]);
}
END
cat >newer.cu <<'END'
#include <concepts>
template <std::integral T>
__global__ void kernel(T* x) { x[threadIdx.x] += T{1}; }
int main() {
  int* x;
  kernel<<<1, 32>>>(y);
}
END
cat >arguments.cu <<'END'
__global__ void kernel(int* x) { *x = 1; }
int main() {
  int* x;
  float* y;
  kernel<<<1, 1>>>(x, 2);
  kernel<<<1, 1>>>(y);
}
END
printf '__global__ void kernel(int* x) { x[threadIdx.x] = 1; }\nint main() { kernel<<<1, 32>>>(nullptr); cudaDeviceSynchronize(); }\n' >nowhere.cu
cat >memory.cu <<'END'
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>
__device__ float weights[8];
__constant__ float bias;
int table[4];
struct Row { float* data; };
struct Shape { __host__ __device__ virtual int sides() const { return 1; } };
struct Square : Shape { __host__ __device__ int sides() const override { return 4; } };
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
__global__ void row(Row* r) { r[0].data[0] = 1; }
__global__ void read(const int* x, int* y) { *y = *x; }
__global__ void sides(const Shape* s, int* y) { *y = s->sides(); }
__global__ void construct(Square* s) { new (s) Square; }
__global__ void pass(const float* x, float* y) { *y = weights[7] + (x != nullptr); }
template <class T> T* device() { T* p; cudaMalloc(&p, 32 * sizeof(T)); return p; }
template <class T> T* copied(const T& x) { T* p = device<T>(); cudaMemcpy(p, &x, sizeof(T), cudaMemcpyHostToDevice); return p; }
void mistake(int number) {
  float local[8] = {}, *pinned;
  cudaMallocHost(&pinned, 32); twice<<<1, 32>>>(device<float>()); // not the first launch
  switch (number) {
    case 0: { std::vector<float> v(32); twice<<<1, 32>>>(v.data()); break; } // line 25
    case 1: { Row r{new float[2]}; row<<<1, 1>>>(copied(r)); break; }
    case 2: { Row r{local}; row<<<1, 1>>>(copied(r)); break; }
    case 3: read<<<1, 1>>>(table, device<int>()); break;
    case 4: twice<<<1, 8>>>(local); break;
    case 5: { Square s; sides<<<1, 1>>>(copied(s), device<int>()); break; }
    case 6: local[0] = *device<float>(); printf("%g\n", local[0]); break;
    case 7: weights[2] = 1; break;
    case 8: cudaMemcpy(local, weights, sizeof local, cudaMemcpyDeviceToHost); break;
    case 9: cudaMemcpyToSymbol("bias", local, 4); break;
    case 10: free(device<float>()); break;
    case 11: delete[] pinned; break;
    case 12: free(pinned); break;
    default: { // nothing is wrong
      std::vector<float> v(32, 3);
      cudaMemcpyToSymbol(weights, v.data(), sizeof weights);
      cudaHostRegister(v.data(), 128, cudaHostRegisterMapped);
      twice<<<1, 32>>>(v.data());
      float* y = device<float>();
      pass<<<1, 1>>>(std::make_unique<float>().get(), y);
      Square* const s = device<Square>();
      construct<<<1, 1>>>(s);
      sides<<<1, 1>>>(s, reinterpret_cast<int*>(pinned));
      cudaMemcpy(local, y, 4, cudaMemcpyDeviceToHost);
      if (local[0] != 4 || v[31] != 6 || *reinterpret_cast<int*>(pinned) != 4) abort();
    }
  }
  cudaDeviceSynchronize();
  _exit(cudaPeekAtLastError() != cudaSuccess);
}
int main() {
  for (int i = 0; i < 14; ++i) {
    int status;
    if (fork() == 0) mistake(i);
    wait(&status);
    if (status != (i < 13 ? 256 : 0)) printf("case %d: %x\n", i, status);
  }
}
END
printf '#include <cstdlib>\nint main() { exit(700); }\n' >exits.cu
printf 'int main() { return -100; }\n' >negative.cu
cat >unfinished.cu <<'END'
#include <cstdio>
#include <ctime>
#include <random>
__device__ unsigned larger(unsigned a, unsigned b)
{ // to be written
}
template <typename T> __device__ T sign(T x) { if (x < 0) return -1; else if (x >= 0) return 1; } // always returns
__global__ void kernel(unsigned* x) {
  unsigned other;
  *x = larger(*x, other) + sign(1.5F);
}
__global__ void measure(unsigned* x) {
  clock_t begin = clock();
  while (clock() < begin + 100);
  *x += clock64() + clock() - begin;
}
int main() {
  unsigned* x;
  cudaMallocManaged(&x, sizeof(unsigned));
  *x = time(NULL) + std::random_device()();
  unsigned seed = 0;
  printf("%d number read\n", scanf("%u", &seed));
  measure<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  printf("from %u\n", *x); // the same in each run of --check
  kernel<<<1, 1>>>(x);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
END
touch text.txt

# A program in several files, as a course has it: each file has a variable of the same name.
mkdir -p course/lab course/common
cat >course/common/device.cuh <<'END'
__constant__ int offset = 2;
static __device__ int square(int x) { return x * x; }
template <class Kernel>
int run(Kernel kernel) {
  int* x;
  cudaMallocManaged(&x, sizeof(int));
  *x = 3;
  kernel<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  return *x;
}
END
for number in 1 2; do
  cat >"course/lab/part$number.cu" <<END
#include <device.cuh>
__device__ int counter = 10 * $number;
static __global__ void kernel(int* x) {
  __shared__ int s;
  s = square(*x) + offset;
  *x = s + counter;
}
int part$number() { return run(kernel); }
END
done
cat >course/lab/main.cpp <<'END'
#include <cstdio>
#include <cuda_runtime.h>
int part1(), part2();
extern "C" int twice(int);
int main(int argc, char** argv) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 4; ++i) sum += i;
  printf("%d %d %d %d %s\n", part1(), part2(), twice(4), sum, argv[argc - 1]);
  return cudaDeviceSynchronize();
}
END
echo 'int twice(int class) { return 2 * class; }' >course/lab/twice.c
cat >uses.cu <<'END'
#include <cstdio>
extern __device__ int total;
__device__ int next(int);
__global__ void kernel() { total = next(total); }
int main() {
  int result;
  kernel<<<1, 1>>>();
  cudaMemcpyFromSymbol(&result, total, sizeof result);
  printf("total %d\n", result);
}
END
printf '__device__ int total = 6;\n__device__ int next(int x) { return x + 1; }\n' >has.cu
cat >ranks.cu <<'END'
#include <cstdio>
#include <mpi.h>
__global__ void add(int* x, int rank) { *x = rank + 1; }
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, *x, sum;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaMallocManaged(&x, sizeof(int));
  add<<<1, 1>>>(x, rank);
  cudaDeviceSynchronize();
  MPI_Allreduce(x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d: %d\n", rank, sum);
  MPI_Finalize();
}
END
# An nvcc that does not know the machine's C++ compiler.
mkdir old
printf '#!/bin/sh\necho "host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than 11 are not supported!" >&2\nexit 1\n' >old/nvcc
chmod +x old/nvcc

expect 7 'right.cu, on ' '' "a folder/right.cu" -D FACTOR=2 -- hello
[[ $output == "62 hello"* ]] || { echo "Printed was: $output" >&2; exit 1; }
expect 1 'error.cu:2:' '' error.cu
expect 134 'was aborted' '' aborts.cu
expect 188 "exits.cu ended with exit code 188, perhaps for CUDA's error 700" '' exits.cu
expect 156 '' '' negative.cu
[[ $(grep -c signal said) -eq 0 ]]
expect 1 'newer.cu:6:' '' newer.cu
[[ $(grep -c 'error:' said) -eq 1 ]] # those of C++20
expect 1 'arguments.cu:5:' '' arguments.cu
grep -q 'arguments.cu:6:.* error: ' said
[[ $(grep -cE 'required from|kernel\.hpp|Launch' said) -eq 0 ]]
expect 0 '' '^  try FILE.cu ' --help
expect 2 'There is no file none.cu' '' none.cu
expect 2 'text.txt is no .cu file' '' text.txt
expect 2 'course is a folder' '' course
expect 2 'main.cpp is no .cu file' '' course/lab/main.cpp
expect 2 'there would be no program to run' '' -c hello.cu
expect 0 '' '^21 31 8 6 hi$' -O3 -arch=sm_70 -std=c++11 -gencode arch=compute_70,code=sm_70 -o prog course/lab/main.cpp \
  course/lab/part*.cu course/lab/twice.c -lm -lcudart -Xcompiler "-Wall -fPIC" -lineinfo -Xptxas -v --use_fast_math -- hi
expect 1 'is device code of another file' '' uses.cu has.cu
expect 0 '' '^total 7$' uses.cu has.cu -rdc=true
type -P mpicxx >/dev/null && expect 0 '' '^rank 1: 3$' ranks.cu --mpi 2
CUDACXX=$PWD/old/nvcc expect 1 'NVCC_CCBIN=g++-11' '' hello.cu --gpu
expect 2 "Unknown option '--fast'" '' sorts.cu --fast
expect 2 'Which program' '' --check

# What kernels do with the host's memory, the host with the device's, and what frees which.
expect 0 '' '^$' memory.cu
for sentence in \
  '13: .*reads .*, which is memory of the host: at byte 0 of the 128 bytes allocated in .*memory.cu:25;' \
  '14: .*writes .*, which is memory of the host: at byte 0 of the 8 bytes allocated in .*memory.cu:26;' \
  '14: .*writes .*, which is memory of the host: a local variable;' '13: .*reads .*: a local variable;' \
  "15: .*reads .*, which is memory of the host: the variable .table.;" \
  "16: .*reads .*: the virtual functions of 'Square', of an object that the host constructed;" \
  '31: host code read device memory' "32: host code wrote .* __device__ variable.*; use cudaMemcpyToSymbol()" \
  "33: cudaMemcpy(): the source is .* __device__ variable.*, .* use cudaMemcpyFromSymbol()" \
  '34: cudaMemcpyToSymbol(): the symbol is a string' '35: free() was given device memory, .*; use cudaFree()' \
  '36: delete\[\] was given pinned memory, .*; use cudaFreeHost()' '37: free() was given pinned memory'; do
  grep -q "memory.cu:$sentence" said || { printf 'Not said: %s\n' "$sentence" >&2; cat said >&2; exit 1; }
done
[[ $(grep -c 'CUDA on the CPU: ' said) -eq 13 ]]

expect 0 '' '^Nothing was found in 8 runs' --check "a folder/right.cu" -DFACTOR=2 -- fail
grep -qx "The program's exit code is 7." <<<"$output"
expect 0 '' '^Nothing was found in 8 runs. They print the same lines in different orders' hello.cu --check
grep -q '^  | hello from thread 2$' <<<"$output"
expect 1 '' 'prints different output' sorts.cu --check
grep -q 'line 2, usually: ' <<<"$output"
expect 0 "unfinished.cu:4: 'larger' has no return statement, so its result can be anything" '^no error$' unfinished.cu
grep -qxF "unfinished.cu:10: 'other' is used before it has a value" said
[[ $(grep -c 'unfinished.cu:' said) -eq 2 ]]
expect 1 '' '^0 of 8 runs found something, and the compiler' unfinished.cu --check <<<7
grep -q '1 number read' <<<"$output"
[[ $(grep -c 'unfinished.cu:' <<<"$output") -eq 2 ]]
expect 1 '' 'beyond.cu:3:.* index 32 out of bounds' beyond.cu --check
expect 1 '' '' nowhere.cu --check
[[ $(grep -c 'writes through a null pointer' <<<"$output") -eq 1 ]] # in every order by another thread

# Kernels that do not end, and waits for streams that are missing.
cat >endless.cu <<'END'
__global__ void scale(volatile int* x, int n) {
  int i = threadIdx.x;
  while (i < n)
    x[i] *= 2;
}
int main() {
  int* x;
  cudaMallocManaged(&x, 32 * sizeof(int));
  scale<<<2, 32>>>(x, 32);
  return cudaDeviceSynchronize();
}
END
cat >waits.cu <<'END'
#include <cstdio>
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void add(const int* x, int* y) { y[threadIdx.x] += x[threadIdx.x]; }
int main(int argc, char**) {
  const bool waits = argc > 1;
  int *x, *y, *z, *pinned, host[32];
  cudaMalloc(&x, sizeof host);
  cudaMallocManaged(&y, sizeof host);
  cudaMallocManaged(&z, sizeof host);
  cudaMallocHost(&pinned, sizeof host);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  fill<<<1, 32, 0, a>>>(x, 1);
  if (waits) cudaStreamSynchronize(a);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  fill<<<1, 32>>>(y, 0);
  if (waits) cudaDeviceSynchronize();
  printf("%d\n", y[3]);
  cudaMemcpyAsync(pinned, x, sizeof host, cudaMemcpyDeviceToHost, a);
  if (waits) cudaStreamSynchronize(a);
  pinned[3] = 4;
  fill<<<1, 32, 0, a>>>(z, 2);
  cudaEventRecord(event, a);
  if (waits) cudaStreamWaitEvent(b, event);
  add<<<1, 32, 0, b>>>(z, y);
  return cudaDeviceSynchronize();
}
END
"${try[@]}" endless.cu 2>said &
for ((i = 0; i < 500; ++i)); do ! grep -qE "endless.cu:[34]: kernel 'scale', block .* no block has ended" said || break; sleep 0.2; done
code=0
kill $!
wait $! || code=$?
[[ $i -lt 500 && $code -eq 143 ]] || { echo "An endless kernel is not told: $code" >&2; cat said >&2; exit 1; }
expect 1 '' "endless.cu:[34]: kernel 'scale', block .* no block has ended" --check endless.cu
grep -q 'The first run did not come to its end' <<<"$output"
expect 1 '' "waits.cu:18: cudaMemcpy\\(\\) reads what kernel 'fill' \\(launched in waits.cu:16\\) writes" --check waits.cu
grep -q "waits.cu:21: host code reads what kernel 'fill' (launched in waits.cu:19) writes" <<<"$output"
grep -q 'waits.cu:24: host code writes what cudaMemcpyAsync() in waits.cu:22 writes' <<<"$output"
grep -q "waits.cu:3: kernel 'add', .* reads what kernel 'fill' (launched in waits.cu:25) writes in " <<<"$output"
expect 0 '' '^Nothing was found in 8 runs' --check waits.cu -- waits

# A lock that only seems to lock: its own atomic functions order the accesses, unless others come between them.
for condition in '!= 0' '== 0'; do
  cat >lock.cu <<END
#include <cstdio>
__device__ int lock, sum;
__global__ void add() {
  while (atomicCAS(&lock, 0, 1) $condition) {
  }
  __threadfence();
  sum += 1;
  __threadfence();
  atomicExch(&lock, 0);
}
int main() {
  add<<<4, 3>>>();
  return cudaDeviceSynchronize();
}
END
  if [[ $condition == '!= 0' ]]; then
    expect 0 '' '^Nothing was found in 8 runs' --check lock.cu
  else
    expect 1 '' "lock.cu:7: kernel 'add'.* has written in .*lock.cu:7" --check lock.cu
  fi
done
