// Shared memory of every kind of type, several of them defined where the variable is; in kernels, loops and functions,
// outside of them, and one dynamic array for several of different types.
#include "expect.h"

typedef struct { float x, y; } Point;
struct __align__(16) Particle { float mass; Point at; int id; };
template <typename T> struct Traits { using type = T; enum { size = 8 }; };

__global__ void in_place(int *out)
{
    __shared__ struct { int count; float parts[4]; } box;
    __shared__ struct Corner { int i, j; } corners[2], *first;
    __shared__ union { int word; unsigned char bytes[4]; } mix;
    __shared__ enum Colour { red, green = 5 } colour;
    volatile __shared__ int flag;
    static __shared__ __align__(16) float4 quads[4], one;
    __shared__ struct Particle particle;
    __shared__ __attribute__((aligned(32))) double wide[2];
    int t = threadIdx.x;

    if (t == 0) {
        box.count = 3;
        mix.word = 0;
        mix.bytes[0] = 7;
        colour = green;
        flag = 11;
        first = corners;
        particle.mass = 2.0f;
        particle.at.y = 4.0f;
        particle.id = 9;
        one = make_float4(1, 2, 3, 4);
    }
    if (t < 4) {
        box.parts[t] = 0.5f * t;
        quads[t] = make_float4(t, t, t, t);
        wide[t & 1] = 1.5;
    }
    if (t < 2) {
        corners[t].i = t;
        corners[t].j = 10 * t;
    }
    __syncthreads();
    if (t == 0) {
        out[0] = box.count + (int)(box.parts[1] + box.parts[3]);
        out[1] = first[1].j + corners[1].i;
        out[2] = mix.word;
        out[3] = (int)colour + flag;
        out[4] = (int)(quads[3].w + one.w + particle.mass + particle.at.y) + particle.id;
        out[5] = (int)(((size_t)quads % 16) + ((size_t)wide % 32));
    }
}

// The shared array is the function's own, for each type.
template <typename T>
__device__ T from_left(T value)
{
    static __shared__ T line[32];
    line[threadIdx.x] = value;
    __syncthreads();
    return threadIdx.x > 0 ? line[threadIdx.x - 1] : T(0);
}

template <typename T, int N>
__global__ void dependent(const int *in, int *out)
{
    __shared__ T sums[(N > 2) ? N : 2], *last;
    int t = threadIdx.x;
    T left = from_left(T(__ldg(in + t)));
    for (int j = 0; j < N; j++) {
        __shared__ typename Traits<T>::type values[Traits<T>::size];
        values[t] = left + T(j);
        __syncthreads();
        if (t == j) {
            T sum = 0;
            for (int i = 0; i < Traits<T>::size; i++) sum += values[i];
            sums[t] = sum;
        }
        __syncthreads();
    }
    if (t == 0) {
        last = &sums[N - 1];
        *out = int(*last);
    }
}

extern __shared__ float sdata[];
__shared__ int block_max;

__device__ float sum_of_block()
{
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sdata[threadIdx.x] += sdata[threadIdx.x + s];
        __syncthreads();
    }
    return sdata[0];
}

__global__ void file_scope(const int *in, int *out)
{
    sdata[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x == 0) block_max = 0;
    __syncthreads();
    atomicMax(&block_max, in[threadIdx.x]);
    const float sum = sum_of_block();
    if (threadIdx.x == 0) *out = 100 * block_max + sum;
}

// The same name, but of this kernel's own: bytes that are carved up.
__global__ void carved(int *out, int n)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    double *const weights = reinterpret_cast<double *>(bytes);
    int *const counts = (int *)&weights[n];
    short *const flags = (short *)(counts + n);
    const int t = threadIdx.x;
    weights[t] = 0.25 * t;
    counts[t] = 2 * t;
    flags[t] = short(t % 2);
    __syncthreads();
    const int other = n - 1 - t;
    out[t] = int(4 * weights[other]) + counts[other] + flags[other];
}

int main()
{
    int *in = zeros<int>(8), *out = zeros<int>(64);
    for (int i = 0; i < 8; i++) in[i] = i;
    in_place<<<1, 32>>>(out);
    dependent<float, 3><<<1, 8>>>(in, out + 6);
    dependent<Traits<Traits<long>::type>::type, 4><<<1, 8>>>(in, out + 7);
    file_scope<<<1, 8, 8 * sizeof(float)>>>(in, out + 8);
    OK(cudaDeviceSynchronize());
    const int expected[] = {5, 11, 7, 16, 22, 0, 37, 45, 728};
    for (int i = 0; i < 9; i++) EXPECT(out[i] == expected[i]);
    carved<<<1, 64, 64 * (sizeof(double) + sizeof(int) + sizeof(short))>>>(out, 64);
    RESULT(out[0] == 190 && out[1] == 186 && out[63] == 0);
}
