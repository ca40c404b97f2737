// The integer intrinsics against plain C, one line of output for each that disagrees.
#include <climits>
#include <cstdint>
#include <cstdio>

struct Row {
  int mul24, mulhi, sad, dp4a, popc, clz, ffs, hadd;
  unsigned umul24, umulhi, perm, brev, funnel_l, funnel_r, usad, largest, dp4a_u;
  long long ll_min;
  unsigned long long brevll, umul64hi;
  int popcll, clzll, ffsll;
};

__global__ void device(const unsigned *in, Row *rows) {
  unsigned i = threadIdx.x, x = in[2 * i], y = in[2 * i + 1];
  unsigned long long xx = (unsigned long long)x << 32 | y;
  Row r;
  r.mul24 = __mul24((int)x, (int)y);
  r.umul24 = __umul24(x, y);
  r.mulhi = __mulhi((int)x, (int)y);
  r.umulhi = __umulhi(x, y);
  r.sad = __sad((int)x, (int)y, 7u);
  r.usad = __usad(x, y, 7u);
  r.dp4a = __dp4a((int)x, (int)y, 100);
  r.dp4a_u = __dp4a(x, y, 100u);
  r.perm = __byte_perm(x, y, 0x5140);
  r.brev = __brev(x);
  r.brevll = __brevll(xx);
  r.funnel_l = __funnelshift_l(x, y, 9);
  r.funnel_r = __funnelshift_r(x, y, 9 + 32);
  r.popc = __popc(x); r.popcll = __popcll(xx);
  r.clz = __clz(x); r.clzll = __clzll(xx);
  r.ffs = __ffs(x); r.ffsll = __ffsll(xx);
  r.hadd = __hadd((int)x, (int)y);
  r.largest = umax(x, y) - max((int)x, 3u) + min(y, 5u);
  r.ll_min = min((long long)x, (long long)y) + llmax(-1, 2) + max(1L, 2L);
  r.umul64hi = __umul64hi(xx, ~xx);
  rows[i] = r;
}

static int sext24(unsigned x) { return (int)(x << 8) >> 8; }
template <class T>
static unsigned reverse_bits(T x, T &result) {
  result = 0;
  for (unsigned i = 0; i < sizeof(T) * CHAR_BIT; ++i) result |= (x >> i & 1) << (sizeof(T) * CHAR_BIT - 1 - i);
  return 0;
}

#define SAME(field, value) if (r.field != (decltype(r.field))(value)) { ++bad; printf("%s of %08x, %08x\n", #field, x, y); }

int main() {
  const int n = 64;
  unsigned *in; Row *rows;
  cudaMallocManaged(&in, 2 * n * sizeof(unsigned));
  cudaMallocManaged(&rows, n * sizeof(Row));
  unsigned s = 12345;
  for (int i = 0; i < 2 * n; ++i) in[i] = s = s * 1664525u + 1013904223u;
  in[0] = 0; in[1] = 0; in[2] = 0x80000000u; in[3] = 0xffffffffu; in[4] = 1; in[5] = 0x7fffffffu;
  device<<<1, n>>>(in, rows);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int bad = 0;
  for (int i = 0; i < n; ++i) {
    const Row &r = rows[i];
    unsigned x = in[2 * i], y = in[2 * i + 1];
    unsigned long long xx = (unsigned long long)x << 32 | y, rev64;
    unsigned rev;
    reverse_bits(x, rev); reverse_bits(xx, rev64);
    int dot = 100; unsigned udot = 100;
    for (int b = 0; b < 32; b += 8) dot += (int8_t)(x >> b) * (int8_t)(y >> b), udot += (uint8_t)(x >> b) * (uint8_t)(y >> b);
    SAME(mul24, (long long)sext24(x) * sext24(y)); SAME(umul24, (unsigned long long)(x & 0xffffff) * (y & 0xffffff));
    SAME(mulhi, (long long)(int)x * (int)y >> 32); SAME(umulhi, (unsigned long long)x * y >> 32);
    long long diff = (long long)(int)x - (int)y;
    SAME(sad, (diff < 0 ? -diff : diff) + 7); SAME(usad, (x > y ? x - y : y - x) + 7);
    SAME(dp4a, dot); SAME(dp4a_u, udot);
    SAME(perm, (x & 0xff) | (y & 0xff) << 8 | (x >> 8 & 0xff) << 16 | (y >> 8 & 0xff) << 24);
    SAME(brev, rev); SAME(brevll, rev64);
    SAME(funnel_l, y << 9 | x >> 23); SAME(funnel_r, x >> 9 | y << 23);
    SAME(popc, __builtin_popcount(x)); SAME(popcll, __builtin_popcountll(xx));
    SAME(clz, x ? __builtin_clz(x) : 32); SAME(clzll, xx ? __builtin_clzll(xx) : 64);
    SAME(ffs, __builtin_ffs(x)); SAME(ffsll, __builtin_ffsll(xx));
    SAME(hadd, ((long long)(int)x + (int)y) >> 1);
    SAME(largest, (x > y ? x : y) - (x > 3 ? x : 3) + (y < 5 ? y : 5));
    SAME(ll_min, (x < y ? x : y) + 4LL);
    SAME(umul64hi, (unsigned __int128)xx * (unsigned long long)~xx >> 64);
  }
  printf("%d disagree\n", bad);
  return bad;
}
