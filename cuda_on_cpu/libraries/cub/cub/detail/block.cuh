/// @file
/// What a warp or a block does together: by shuffles and in the shared memory that it is given, with the barriers that
/// CUB has, so that one which is missing between two uses is seen. All is compiled into the kernel, whose lines are
/// those of mistakes.
#pragma once

#include <climits>

#include <cuda_on_cpu/libraries.h>

#include "util.cuh"

namespace cub {
namespace detail {

using cuda_on_cpu::Place;

/// Memory for so many elements, which need no constructor.
template <class T, unsigned count>
struct Storage {
  alignas(T) unsigned char bytes[count * sizeof(T)];
  __forceinline__ T* elements() { return reinterpret_cast<T*>(bytes); }
};

/// What has a storage, that which is given or one of the block's own.
template <class T, unsigned count>
struct Primitive {
  using TempStorage = Storage<T, count>;
  TempStorage& storage;
  __forceinline__ explicit Primitive(TempStorage& given) : storage(given) {}
  __forceinline__ Primitive() : storage(cuda_on_cpu::shared<TempStorage>([] {}, "TempStorage")) {}
};

/// A block of this shape, each of whose threads has so many items.
template <int x, int y, int z, int items = 1>
struct Shape {
  static constexpr unsigned threads = x * y * z, warps = (threads + 31) / 32, all = threads * items;
  static __forceinline__ unsigned thread() {
    return ((z == 1 ? 0 : threadIdx.z) * y + (y == 1 ? 0 : threadIdx.y)) * x + threadIdx.x;
  }
  /// Where a thread's item is in the block.
  static __forceinline__ unsigned place_of(unsigned item, bool is_striped) {
    return is_striped ? item * threads + thread() : thread() * items + item;
  }
};

/// A thread's values, one or an array, and the line of the call that they are given to.
template <class T>
struct Values {
  T* values;
  int count = 1;
  Place from;
  __forceinline__ Values(T& value, CUDA_ON_CPU_HERE) : values(&value), from(place) {}
  template <int n>
  __forceinline__ Values(T (&array)[n], CUDA_ON_CPU_HERE) : values(array), count(n), from(place) {}
};

/// The lanes of the own logical warp.
template <int width>
struct Lanes {
  unsigned first = cuda_on_cpu::own_lane() / width * width;
  unsigned rank = cuda_on_cpu::own_lane() - first;
  unsigned mask = (~0U >> (32 - width)) << first & cuda_on_cpu::lanes_of_own_warp();
  int count = __builtin_popcount(mask);

  /// The value of another lane.
  template <class T>
  __forceinline__ T value_of(T value, unsigned from, Place place) const {
    std::uint64_t words[(sizeof(T) + 7) / 8] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (auto& word : words) word = cuda_on_cpu::shuffle_from(mask, word, first + from, "__shfl_sync", place);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
  /// The first lane gets the combination of the first `valid` values.
  template <class T, class Operation>
  __forceinline__ T reduce(T value, Operation& operation, int valid, Place place) const {
    valid = valid < count ? valid : count;
    for (int distance = 1; distance < valid; distance *= 2) {
      const bool is_there = static_cast<int>(rank) + distance < valid;
      const T other = value_of(value, is_there ? rank + distance : rank, place);
      if (is_there) value = operation(value, other);
    }
    return value;
  }
  /// Each lane gets the combination of the values up to its own.
  template <class T, class Operation>
  __forceinline__ T scan(T value, Operation& operation, Place place) const {
    for (int distance = 1; distance < count; distance *= 2) {
      const bool is_there = static_cast<int>(rank) >= distance;
      const T other = value_of(value, is_there ? rank - distance : rank, place);
      if (is_there) value = operation(other, value);
    }
    return value;
  }
};

/// The functions of reductions, for what has reduce().
template <class T, class Self>
struct Reductions {
  template <class Operation>
  __forceinline__ T Reduce(Values<const T> in, Operation operation, int valid = INT_MAX) {
    T value = Self::rank() < valid ? in.values[0] : T();  // another one need not be set
    for (int i = 1; i < in.count; ++i) value = operation(value, in.values[i]);
    return static_cast<Self*>(this)->reduce(value, operation, valid, in.from);
  }
  __forceinline__ T Sum(Values<const T> in, int valid = INT_MAX) { return Reduce(in, cub::Sum(), valid); }
};

struct Nothing {};

/// The functions of scans, for what has scan(). Last may be given what gets the combination of all values or, of a
/// block, a function object that makes of it what comes before the first value.
template <class T, class Self>
struct Scans {
  template <class Rest = Nothing>
  __forceinline__ void InclusiveSum(Values<const T> in, Values<T> out, Rest&& rest = Rest()) {
    InclusiveScan(in, out, cub::Sum(), rest);
  }
  template <class Operation, class Rest = Nothing>
  __forceinline__ void InclusiveScan(Values<const T> in, Values<T> out, Operation operation, Rest&& rest = Rest()) {
    static_cast<Self*>(this)->template scan<true>(in, out, operation, static_cast<const T*>(nullptr), rest);
  }
  template <class Rest = Nothing>
  __forceinline__ void ExclusiveSum(Values<const T> in, Values<T> out, Rest&& rest = Rest()) {
    ExclusiveScan(in, out, T(), cub::Sum(), rest);
  }
  template <class Operation, class Rest = Nothing>
  __forceinline__ void ExclusiveScan(Values<const T> in, Values<T> out, T initial, Operation operation,
                                     Rest&& rest = Rest()) {
    static_cast<Self*>(this)->template scan<false>(in, out, operation, &initial, rest);
  }

 protected:
  /// A thread's results from what the threads before it make, which may be nothing.
  template <bool is_inclusive, class Operation>
  static __forceinline__ void finish(Values<const T> in, Values<T> out, Operation& operation, T before, bool is_there) {
    for (int i = 0; i < in.count; ++i) {
      const T next = is_there ? static_cast<T>(operation(before, in.values[i])) : in.values[i];
      out.values[i] = is_inclusive ? next : before;
      before = next;
      is_there = true;
    }
  }
};

}  // namespace detail

inline unsigned LaneId() { return cuda_on_cpu::own_lane(); }

template <class T, int width = 32, int = 0>
struct WarpReduce : detail::Primitive<char, 1>, detail::Reductions<T, WarpReduce<T, width>> {
  using detail::Primitive<char, 1>::Primitive;
  static __forceinline__ int rank() { return static_cast<int>(detail::Lanes<width>().rank); }
  template <class Operation>
  __forceinline__ T reduce(T value, Operation& operation, int valid, detail::Place place) {
    return detail::Lanes<width>().reduce(value, operation, valid, place);
  }
};

template <class T, int width = 32, int = 0>
struct WarpScan : detail::Primitive<char, 1>, detail::Scans<T, WarpScan<T, width>> {
  using detail::Primitive<char, 1>::Primitive;
  template <bool is_inclusive, class Operation, class Rest>
  __forceinline__ void scan(detail::Values<const T> in, detail::Values<T> out, Operation& operation, const T* initial,
                            Rest& rest) {
    const detail::Lanes<width> lanes;
    const T scanned = lanes.scan(*in.values, operation, in.from);
    T before = lanes.value_of(scanned, lanes.rank == 0 ? 0 : lanes.rank - 1, in.from);
    if constexpr (std::is_same_v<Rest, T>) rest = lanes.value_of(scanned, lanes.count - 1, in.from);
    if (initial != nullptr) before = lanes.rank == 0 ? *initial : static_cast<T>(operation(*initial, before));
    this->template finish<is_inclusive>(in, out, operation, before, lanes.rank > 0);
  }
  __forceinline__ T Broadcast(T value, unsigned from, CUDA_ON_CPU_HERE) {
    return detail::Lanes<width>().value_of(value, from, place);
  }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
template <class T, int x, BlockReduceAlgorithm algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1, int = 0>
struct BlockReduce : detail::Primitive<T, detail::Shape<x, y, z>::warps>,
                     detail::Reductions<T, BlockReduce<T, x, algorithm, y, z>> {
  using Shape = detail::Shape<x, y, z>;
  using detail::Primitive<T, Shape::warps>::Primitive;
  static __forceinline__ int rank() { return static_cast<int>(Shape::thread()); }
  template <class Operation>
  __forceinline__ T reduce(T value, Operation& operation, int valid, detail::Place place) {
    const detail::Lanes<32> lanes;
    const int warp = rank() / 32;
    value = lanes.reduce(value, operation, valid - 32 * warp, place);
    T* const of_warps = this->storage.elements();
    if (lanes.rank == 0) of_warps[warp] = value;
    __syncthreads(place);
    if (Shape::thread() > 0) return value;
    for (int i = 1; i < static_cast<int>(Shape::warps) && 32 * i < valid; ++i) value = operation(value, of_warps[i]);
    return value;
  }
};

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
template <class T, int x, BlockScanAlgorithm algorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int = 0>
struct BlockScan : detail::Primitive<T, detail::Shape<x, y, z>::warps + 1>,
                   detail::Scans<T, BlockScan<T, x, algorithm, y, z>> {
  using Shape = detail::Shape<x, y, z>;
  using detail::Primitive<T, Shape::warps + 1>::Primitive;
  template <bool is_inclusive, class Operation, class Rest>
  __forceinline__ void scan(detail::Values<const T> in, detail::Values<T> out, Operation& operation, const T* initial,
                            Rest& rest) {
    const detail::Lanes<32> lanes;
    const unsigned warp = Shape::thread() / 32;
    T own = in.values[0];
    for (int i = 1; i < in.count; ++i) own = operation(own, in.values[i]);
    own = lanes.scan(own, operation, in.from);
    T* const of_warps = this->storage.elements();
    if (static_cast<int>(lanes.rank) == lanes.count - 1) of_warps[warp] = own;
    T before = lanes.value_of(own, lanes.rank == 0 ? 0 : lanes.rank - 1, in.from);
    __syncthreads(in.from);
    T all = of_warps[0];
    for (unsigned i = 1; i <= Shape::warps; ++i) {
      if (i == warp) before = lanes.rank > 0 ? static_cast<T>(operation(all, before)) : all;
      if (i < Shape::warps) all = operation(all, of_warps[i]);
    }
    T first = initial == nullptr ? all : *initial;
    bool has_first = initial != nullptr;
    if constexpr (std::is_same_v<Rest, T>) {
      rest = all;
    } else if constexpr (!std::is_same_v<Rest, detail::Nothing>) {
      if (warp == 0) first = rest(all);
      if (Shape::thread() == 0) of_warps[Shape::warps] = first;
      __syncthreads(in.from);
      first = of_warps[Shape::warps];
      has_first = true;
    }
    const bool has_before = Shape::thread() > 0;
    if (has_first) before = has_before ? static_cast<T>(operation(first, before)) : first;
    this->template finish<is_inclusive>(in, out, operation, before, has_first || has_before);
  }
};

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
template <class T, int x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int y = 1, int z = 1, int = 0>
struct BlockLoad : detail::Primitive<T, algorithm >= BLOCK_LOAD_TRANSPOSE ? detail::Shape<x, y, z, items>::all : 1> {
  using Shape = detail::Shape<x, y, z, items>;
  static constexpr bool transposes = algorithm >= BLOCK_LOAD_TRANSPOSE;
  using detail::Primitive<T, transposes ? Shape::all : 1>::Primitive;

  template <class In>
  __forceinline__ void Load(In in, T (&values)[items], int valid = Shape::all, CUDA_ON_CPU_HERE) {
    T* const elements = this->storage.elements();
    if constexpr (transposes) {
      for (int i = Shape::thread(); i < valid; i += Shape::threads) elements[i] = in[i];
      __syncthreads(place);
    }
    for (int i = 0; i < items; ++i) {
      const int from = Shape::place_of(i, algorithm == BLOCK_LOAD_STRIPED);
      if (from >= valid) continue;
      if constexpr (transposes) {
        values[i] = elements[from];
      } else {
        values[i] = in[from];
      }
    }
  }
  template <class In, class Default>
  __forceinline__ void Load(In in, T (&values)[items], int valid, Default otherwise, CUDA_ON_CPU_HERE) {
    for (T& value : values) value = otherwise;
    Load(in, values, valid, place);
  }
};

enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};
template <class T, int x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int y = 1, int z = 1, int = 0>
struct BlockStore : detail::Primitive<T, algorithm >= BLOCK_STORE_TRANSPOSE ? detail::Shape<x, y, z, items>::all : 1> {
  using Shape = detail::Shape<x, y, z, items>;
  static constexpr bool transposes = algorithm >= BLOCK_STORE_TRANSPOSE;
  using detail::Primitive<T, transposes ? Shape::all : 1>::Primitive;

  template <class Out>
  __forceinline__ void Store(Out out, T (&values)[items], int valid = Shape::all, CUDA_ON_CPU_HERE) {
    T* const elements = this->storage.elements();
    for (int i = 0; i < items; ++i) {
      const int to = Shape::place_of(i, algorithm == BLOCK_STORE_STRIPED);
      if (to >= valid) continue;
      if constexpr (transposes) {
        elements[to] = values[i];
      } else {
        out[to] = values[i];
      }
    }
    if constexpr (transposes) {
      __syncthreads(place);
      for (int i = Shape::thread(); i < valid; i += Shape::threads) out[i] = elements[i];
    }
  }
};

namespace detail {

/// What a sort moves.
template <class Key, class Value>
struct Item {
  Key key;
  Value value;
};
template <class Key>
struct Item<Key, NullType> {
  Key key;
};

}  // namespace detail

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

/// Behind the keys may stand their values, and the bits from which and up to which a key counts.
template <class Key, int x, int items, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, cudaSharedMemConfig = cudaSharedMemBankSizeFourByte, int y = 1,
          int z = 1, int = 0>
class BlockRadixSort : public detail::Primitive<detail::Item<Key, Value>, detail::Shape<x, y, z, items>::all> {
  using Shape = detail::Shape<x, y, z, items>;
  using Item = detail::Item<Key, Value>;

 public:
  using detail::Primitive<Item, Shape::all>::Primitive;
  template <class... Rest>
  __forceinline__ void Sort(detail::Values<Key> keys, Rest&&... rest) {
    run<false, false>(keys, rest...);
  }
  template <class... Rest>
  __forceinline__ void SortDescending(detail::Values<Key> keys, Rest&&... rest) {
    run<true, false>(keys, rest...);
  }
  template <class... Rest>
  __forceinline__ void SortBlockedToStriped(detail::Values<Key> keys, Rest&&... rest) {
    run<false, true>(keys, rest...);
  }
  template <class... Rest>
  __forceinline__ void SortDescendingBlockedToStriped(detail::Values<Key> keys, Rest&&... rest) {
    run<true, true>(keys, rest...);
  }

 private:
  template <bool is_descending, bool is_striped>
  __forceinline__ void run(detail::Values<Key> keys, int begin = 0, int end = 8 * sizeof(Key)) {
    run<is_descending, is_striped>(keys, static_cast<Value*>(nullptr), begin, end);
  }
  /// The first thread does it.
  template <bool is_descending, bool is_striped>
  __forceinline__ void run(detail::Values<Key> keys, Value* values, int begin = 0, int end = 8 * sizeof(Key)) {
    Item* const all = this->storage.elements();
    for (int i = 0; i < items; ++i) {
      Item& item = all[Shape::place_of(i, false)];
      item.key = keys.values[i];
      if constexpr (!std::is_same_v<Value, NullType>) item.value = values[i];
    }
    __syncthreads(keys.from);
    if (Shape::thread() == 0) {
      cuda_on_cpu::sort_for_library(all, sizeof(Item), Shape::all, [=](const void* a, const void* b) {
        const auto first = detail::digits(static_cast<const Item*>(a)->key, begin, end);
        const auto second = detail::digits(static_cast<const Item*>(b)->key, begin, end);
        return is_descending ? second < first : first < second;
      });
    }
    __syncthreads(keys.from);
    for (int i = 0; i < items; ++i) {
      const Item& item = all[Shape::place_of(i, is_striped)];
      keys.values[i] = item.key;
      if constexpr (!std::is_same_v<Value, NullType>) values[i] = item.value;
    }
  }
};

template <class T, int x, int items, int bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int y = 1, int z = 1,
          int = 0>
struct BlockHistogram : detail::Primitive<char, 1> {
  using Shape = detail::Shape<x, y, z>;
  using detail::Primitive<char, 1>::Primitive;
  template <class Counter>
  __forceinline__ void InitHistogram(Counter* histogram) {
    for (int i = Shape::thread(); i < bins; i += Shape::threads) histogram[i] = 0;
  }
  template <class Counter>
  __forceinline__ void Composite(T (&values)[items], Counter* histogram) {
    for (const T value : values) atomicAdd(&histogram[static_cast<unsigned>(value)], Counter{1});
  }
  template <class Counter>
  __forceinline__ void Histogram(T (&values)[items], Counter* histogram, CUDA_ON_CPU_HERE) {
    InitHistogram(histogram);
    __syncthreads(place);
    Composite(values, histogram);
  }
};

}  // namespace cub
