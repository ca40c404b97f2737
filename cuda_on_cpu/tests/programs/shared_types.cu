// Shared memory of every kind of type, several of them defined where the variable is.
#include <stdio.h>

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

template <typename T, int N>
__global__ void dependent(int *out)
{
    __shared__ typename Traits<T>::type values[Traits<T>::size][N];
    __shared__ T sums[(N > 2) ? N : 2], *last;
    int t = threadIdx.x;
    for (int j = 0; j < N; j++) values[t][j] = T(t + j);
    __syncthreads();
    if (t < N) {
        T sum = 0;
        for (int i = 0; i < Traits<T>::size; i++) sum += values[i][t];
        sums[t] = sum;
    }
    __syncthreads();
    if (t == 0) {
        last = &sums[N - 1];
        *out = int(*last);
    }
}

int main()
{
    int *d, h[8];
    cudaMalloc((void **)&d, sizeof h);
    in_place<<<1, 32>>>(d);
    dependent<float, 3><<<1, 8>>>(d + 6);
    dependent<Traits<Traits<long>::type>::type, 4><<<1, 8>>>(d + 7);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++) printf("%d%c", h[i], i < 7 ? ' ' : '\n');
    cudaFree(d);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
