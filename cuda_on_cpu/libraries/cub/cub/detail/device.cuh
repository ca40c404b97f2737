/// @file
/// What CUB does with whole arrays, as work in a stream. Each function is called twice: without temporary memory, it
/// says how much it needs.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_on_cpu/libraries.h>

#include "util.cuh"

namespace thrust::detail {
template <class Pointer>
class normal_iterator;
}  // namespace thrust::detail

namespace cub {
namespace detail {

using cuda_on_cpu::LibraryMemory;
using cuda_on_cpu::Place;

/// Pointers of Thrust, and iterators of its vectors, as pointers.
template <class It>
auto unwrapped(It it, int /*preferred*/) -> decltype(it.get()) {
  return it.get();
}
template <class It>
It unwrapped(It it, long /*otherwise*/) {
  return it;
}
template <class Pointer>
auto unwrapped(thrust::detail::normal_iterator<Pointer> it, int /*preferred*/) {
  return unwrapped(it.base(), 0);
}

template <class It>
auto raw(It it) {
  return unwrapped(it, 0);
}

template <class It, class = void>
struct ValueOf {
  using type = std::decay_t<decltype(*std::declval<It&>())>;
};
template <class It>
struct ValueOf<It, std::enable_if_t<!std::is_void_v<typename std::iterator_traits<It>::value_type>>> {
  using type = typename std::iterator_traits<It>::value_type;
};
template <class It>
using value_of = typename ValueOf<It>::type;
template <class Operation, class... A>
using result_of = std::decay_t<std::invoke_result_t<Operation&, A...>>;
template <class T>
using unless_number = std::enable_if_t<!std::is_arithmetic_v<T>>;

/// So many elements from an iterator on, if that is a pointer.
template <class It>
LibraryMemory memory(const char* name, It it, std::ptrdiff_t n, bool is_written) {
  if constexpr (std::is_pointer_v<It>) {
    return {name, it, static_cast<std::size_t>(std::max<std::ptrdiff_t>(n, 0)) * sizeof(*it), is_written};
  } else {
    return {name, nullptr, 0, is_written};
  }
}
template <class It>
LibraryMemory in(const char* name, It it, std::ptrdiff_t n) {
  return memory(name, it, n, false);
}
template <class It>
LibraryMemory out(const char* name, It it, std::ptrdiff_t n) {
  return memory(name, it, n, true);
}

/// Writes what has come out, however much it is.
template <class T, class It>
void put(const std::vector<T>& values, It it) {
  for (std::size_t i = 0; i < values.size(); ++i) it[i] = values[i];
  const LibraryMemory written = out("", it, static_cast<std::ptrdiff_t>(values.size()));
  cuda_on_cpu::note_library_wrote(written.begin, written.bytes);
}

/// What a call says of temporary memory, and where the call is.
struct Bytes {
  std::size_t& bytes;
  Place place;
  Bytes(std::size_t& given, CUDA_ON_CPU_HERE) : bytes(given), place(place) {}
};

/// A stream, also as the number 0.
struct Stream {
  cudaStream_t stream;
  Stream(cudaStream_t given = nullptr) : stream(given) {}
  Stream(int /*none*/) : stream(nullptr) {}
  operator cudaStream_t() const { return stream; }
};

/// One call of a program.
struct Call {
  const char* name;
  void* storage;
  Bytes given;
  Stream stream = {};
  bool is_debugging = false;

  template <class Work>
  cudaError_t run(std::ptrdiff_t n, std::initializer_list<LibraryMemory> used, Work work) const {
    const std::size_t needed = (static_cast<std::size_t>(std::max<std::ptrdiff_t>(n, 0)) / 256 + 1) * 256;
    const auto& [bytes, place] = given;
    if (storage == nullptr) {
      bytes = needed;
      return cudaSuccess;
    }
    if (bytes < needed) {
      const std::string is = "temp_storage_bytes is " + std::to_string(bytes) + ", but " + std::to_string(needed);
      cuda_on_cpu::note_at(place, (std::string(name) + ": " + is + " are needed.").c_str());
      return cudaErrorInvalidValue;
    }
    const cudaError_t error = cuda_on_cpu::run_library(
        name, stream, {{"d_temp_storage", storage, needed, true}}, [] {}, place);
    return error != cudaSuccess ? error : cuda_on_cpu::run_library(name, stream, used, std::move(work), place);
  }
};

/// The combination of at least one element. Halves are combined, since sums of many floats are not exact enough.
template <class T, class In, class Operation>
T reduce(In in, std::ptrdiff_t begin, std::ptrdiff_t end, Operation& operation) {
  if (end - begin > 256) {
    const std::ptrdiff_t middle = begin + (end - begin) / 2;
    const T first = reduce<T>(in, begin, middle, operation);
    return operation(first, reduce<T>(in, middle, end, operation));
  }
  T sum = in[begin];
  for (std::ptrdiff_t i = begin + 1; i < end; ++i) sum = operation(sum, in[i]);
  return sum;
}
template <class T, class In, class Operation, class Initial>
T reduce(In in, std::ptrdiff_t begin, std::ptrdiff_t end, Operation& operation, const Initial& initial) {
  if (begin >= end) return initial;
  return operation(static_cast<T>(initial), reduce<T>(in, begin, end, operation));
}

template <class In, class Out, class Operation, class T>
cudaError_t reduce_all(const Call& call, In in, Out out, std::ptrdiff_t n, Operation operation, T initial) {
  using Result = result_of<Operation, T, value_of<In>>;
  return call.run(0, {detail::in("d_in", in, n), detail::out("d_out", out, 1)},
                  [=]() mutable { *out = reduce<Result>(in, 0, n, operation, initial); });
}
template <class In, class Out, class Begins, class Ends, class Operation, class T>
cudaError_t reduce_segments(const Call& call, In in, Out out, std::ptrdiff_t n, Begins begins, Ends ends,
                            Operation operation, T initial) {
  using Result = result_of<Operation, T, value_of<In>>;
  return call.run(
      n, {detail::in("d_begin_offsets", begins, n), detail::in("d_end_offsets", ends, n), detail::out("d_out", out, n)},
      [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = reduce<Result>(in, begins[i], ends[i], operation, initial);
      });
}

/// The least or the greatest value of a type.
template <class T>
T bound(bool is_least) {
  using Limits = std::numeric_limits<T>;
  if (Limits::has_infinity) return is_least ? static_cast<T>(-Limits::infinity()) : Limits::infinity();
  return is_least ? Limits::lowest() : Limits::max();
}
/// Where the extreme is, and which: in two places, or as a pair.
template <class Operation, class In, class Out, class Index>
cudaError_t extreme(const Call& call, In in, Out out, Index index, std::ptrdiff_t n, bool is_greatest) {
  using T = value_of<In>;
  return call.run(0, {detail::in("d_in", in, n), detail::out("d_out", out, 1), detail::out("d_index_out", index, 1)},
                  [=]() mutable {
                    const ArgIndexInputIterator<In, std::ptrdiff_t, T> pairs(in);
                    Operation operation;
                    KeyValuePair<std::ptrdiff_t, T> found(1, bound<T>(is_greatest));
                    if (n > 0) found = reduce<KeyValuePair<std::ptrdiff_t, T>>(pairs, 0, n, operation);
                    if constexpr (std::is_same_v<Out, Index>) {
                      *out = {static_cast<int>(found.key), found.value};
                    } else {
                      *out = found.value;
                      *index = found.key;
                    }
                  });
}

/// A scan, in place too. For the same reason, each part is scanned on its own before what precedes it is combined with
/// it.
template <bool is_inclusive, class T, class In, class Out, class Operation>
void scan(In in, Out out, std::ptrdiff_t n, Operation& operation, std::optional<T> before) {
  for (std::ptrdiff_t begin = 0; begin < n; begin += 256) {
    std::optional<T> own;
    const auto both = [&] {
      return before && own ? static_cast<T>(operation(*before, *own)) : before ? *before : *own;
    };
    for (std::ptrdiff_t i = begin; i < std::min(begin + 256, n); ++i) {
      const value_of<In> value = in[i];
      if constexpr (!is_inclusive) out[i] = both();
      own.emplace(own ? static_cast<T>(operation(*own, value)) : static_cast<T>(value));
      if constexpr (is_inclusive) out[i] = both();
    }
    before.emplace(both());
  }
}

/// @param initial NullType if there is none
template <bool is_inclusive, class In, class Out, class Operation, class T>
cudaError_t scan_all(const Call& call, In in, Out out, std::ptrdiff_t n, Operation operation, T initial) {
  constexpr bool has_initial = !std::is_same_v<T, NullType>;
  using Result = result_of<Operation, std::conditional_t<has_initial, T, value_of<In>>, value_of<In>>;
  return call.run(n, {detail::in("d_in", in, n), detail::out("d_out", out, n)}, [=]() mutable {
    std::optional<Result> before;
    if constexpr (has_initial) before.emplace(initial);
    scan<is_inclusive>(in, out, n, operation, before);
  });
}

/// Copies the elements for which keep(i, in), in order.
template <class In, class Out, class Count, class Keep>
cudaError_t select(const Call& call, In in, Out out, Count count, std::ptrdiff_t n, Keep keep) {
  return call.run(n, {detail::in("d_in", in, n), detail::out("d_num_selected_out", count, 1)}, [=]() mutable {
    std::vector<value_of<In>> kept;
    for (std::ptrdiff_t i = 0; i < n; ++i)
      if (keep(i, in)) kept.push_back(in[i]);
    *count = kept.size();
    put(kept, out);
  });
}

/// Of each run of equal keys, the first key, and what the function makes of its begin and its end.
template <class T, class Keys, class Firsts, class Results, class Count, class Function>
cudaError_t runs(const Call& call, Keys keys, Firsts firsts, Results results, Count count, std::ptrdiff_t n,
                 LibraryMemory other, Function function) {
  return call.run(n, {in("d_in", keys, n), other, out("d_num_runs_out", count, 1)}, [=]() mutable {
    std::vector<value_of<Keys>> found;
    std::vector<T> made;
    for (std::ptrdiff_t begin = 0, end = 0; begin < n; begin = end) {
      const value_of<Keys> key = keys[begin];
      for (end = begin + 1; end < n && keys[end] == key;) ++end;
      found.push_back(key);
      made.push_back(function(begin, end));
    }
    *count = found.size();
    put(found, firsts);
    put(made, results);
  });
}

/// Sorts keys, and values unless they are of NullType.
template <bool is_descending, class Key, class Value>
cudaError_t sort(const char* name, void* storage, Bytes bytes, const Key* keys, Key* sorted, const Value* values,
                 Value* sorted_values, std::ptrdiff_t n, int begin = 0, int end = 8 * sizeof(Key), Stream stream = {},
                 bool is_debugging = false) {
  const Call call{name, storage, bytes, stream, is_debugging};
  constexpr bool has_values = !std::is_same_v<Value, NullType>;
  const std::ptrdiff_t of_values = has_values ? n : 0;
  return call.run(n,
                  {in("d_keys_in", keys, n), in("d_values_in", values, of_values), out("d_keys_out", sorted, n),
                   out("d_values_out", sorted_values, of_values)},
                  [=] {
                    struct Entry {
                      std::uint64_t digits;
                      Key key;
                      Value value;
                    };
                    std::vector<Entry> entries;
                    for (std::ptrdiff_t i = 0; i < n; ++i)
                      entries.push_back({digits(keys[i], begin, end), keys[i], has_values ? values[i] : Value()});
                    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
                      return is_descending ? b.digits < a.digits : a.digits < b.digits;
                    });
                    for (std::ptrdiff_t i = 0; i < n; ++i) {
                      sorted[i] = entries[i].key;
                      if (has_values) sorted_values[i] = entries[i].value;
                    }
                  });
}

template <class In, class Counter, class Bin>
cudaError_t histogram(const Call& call, In samples, LibraryMemory levels, Counter* counts, int bins, std::ptrdiff_t n,
                      Bin bin) {
  return call.run(0, {in("d_samples", samples, n), levels, out("d_histogram", counts, bins)}, [=] {
    std::fill_n(counts, std::max(bins, 0), Counter{});
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const std::ptrdiff_t found = bin(samples[i]);
      if (found >= 0 && found < bins) ++counts[found];
    }
  });
}

}  // namespace detail

namespace detail {

/// The functions that stand on one which takes an operation and where to begin.
template <class Self>
struct SimpleReductions {
  template <class In, class Out, class... Rest>
  static cudaError_t Sum(void* storage, Bytes bytes, In in, Out out, std::ptrdiff_t n, Rest... rest) {
    return Self::with(cub::Sum(), value_of<Out>(), storage, bytes, raw(in), raw(out), n, rest...);
  }
  template <class In, class Out, class... Rest>
  static cudaError_t Min(void* storage, Bytes bytes, In in, Out out, std::ptrdiff_t n, Rest... rest) {
    return Self::with(cub::Min(), bound<value_of<In>>(false), storage, bytes, raw(in), raw(out), n, rest...);
  }
  template <class In, class Out, class... Rest>
  static cudaError_t Max(void* storage, Bytes bytes, In in, Out out, std::ptrdiff_t n, Rest... rest) {
    return Self::with(cub::Max(), bound<value_of<In>>(true), storage, bytes, raw(in), raw(out), n, rest...);
  }
};

}  // namespace detail

struct DeviceReduce : detail::SimpleReductions<DeviceReduce> {
  template <class Operation, class T, class In, class Out, class... Stream>
  static cudaError_t with(Operation operation, T initial, void* storage, detail::Bytes bytes, In in, Out out,
                          std::ptrdiff_t n, Stream... stream) {
    return detail::reduce_all({"DeviceReduce", storage, bytes, stream...}, in, out, n, operation, initial);
  }
  template <class In, class Out, class Operation, class T, class... Stream>
  static cudaError_t Reduce(void* storage, detail::Bytes bytes, In in, Out out, std::ptrdiff_t n, Operation operation,
                            T initial, Stream... stream) {
    return with(operation, initial, storage, bytes, detail::raw(in), detail::raw(out), n, stream...);
  }
  template <class In, class Out, class... Stream>
  static cudaError_t ArgMin(void* storage, detail::Bytes bytes, In in, Out out, std::ptrdiff_t n, Stream... stream) {
    return detail::extreme<cub::ArgMin>({"DeviceReduce", storage, bytes, stream...}, detail::raw(in), detail::raw(out),
                                        detail::raw(out), n, false);
  }
  template <class In, class Out, class Index, class = detail::unless_number<Index>, class... Stream>
  static cudaError_t ArgMin(void* storage, detail::Bytes bytes, In in, Out out, Index index, std::ptrdiff_t n,
                            Stream... stream) {
    return detail::extreme<cub::ArgMin>({"DeviceReduce", storage, bytes, stream...}, detail::raw(in), detail::raw(out),
                                        detail::raw(index), n, false);
  }
  template <class In, class Out, class... Stream>
  static cudaError_t ArgMax(void* storage, detail::Bytes bytes, In in, Out out, std::ptrdiff_t n, Stream... stream) {
    return detail::extreme<cub::ArgMax>({"DeviceReduce", storage, bytes, stream...}, detail::raw(in), detail::raw(out),
                                        detail::raw(out), n, true);
  }
  template <class In, class Out, class Index, class = detail::unless_number<Index>, class... Stream>
  static cudaError_t ArgMax(void* storage, detail::Bytes bytes, In in, Out out, Index index, std::ptrdiff_t n,
                            Stream... stream) {
    return detail::extreme<cub::ArgMax>({"DeviceReduce", storage, bytes, stream...}, detail::raw(in), detail::raw(out),
                                        detail::raw(index), n, true);
  }
  template <class Keys, class Firsts, class Values, class Sums, class Count, class Operation, class... Stream>
  static cudaError_t ReduceByKey(void* storage, detail::Bytes bytes, Keys keys, Firsts firsts, Values values, Sums sums,
                                 Count count, Operation operation, std::ptrdiff_t n, Stream... stream) {
    using T = detail::value_of<Values>;
    const auto from = detail::raw(values);
    const auto reduced = [=](auto begin, auto end) mutable { return detail::reduce<T>(from, begin, end, operation); };
    return detail::runs<T>({"DeviceReduce", storage, bytes, stream...}, detail::raw(keys), detail::raw(firsts),
                           detail::raw(sums), detail::raw(count), n, detail::in("d_values_in", from, n), reduced);
  }
};

struct DeviceSegmentedReduce : detail::SimpleReductions<DeviceSegmentedReduce> {
  template <class Operation, class T, class In, class Out, class Begins, class Ends, class... Stream>
  static cudaError_t with(Operation operation, T initial, void* storage, detail::Bytes bytes, In in, Out out,
                          std::ptrdiff_t n, Begins begins, Ends ends, Stream... stream) {
    return detail::reduce_segments({"DeviceSegmentedReduce", storage, bytes, stream...}, in, out, n,
                                   detail::raw(begins), detail::raw(ends), operation, initial);
  }
  template <class In, class Out, class Begins, class Ends, class Operation, class T, class... Stream>
  static cudaError_t Reduce(void* storage, detail::Bytes bytes, In in, Out out, std::ptrdiff_t n, Begins begins,
                            Ends ends, Operation operation, T initial, Stream... stream) {
    return with(operation, initial, storage, bytes, detail::raw(in), detail::raw(out), n, begins, ends, stream...);
  }
};

/// In place where there is no output.
struct DeviceScan {
  template <class In, class Out, class = detail::unless_number<Out>, class... Stream>
  static cudaError_t ExclusiveSum(void* storage, detail::Bytes bytes, In in, Out out, std::ptrdiff_t n,
                                  Stream... stream) {
    return detail::scan_all<false>({"DeviceScan", storage, bytes, stream...}, detail::raw(in), detail::raw(out), n,
                                   cub::Sum(), detail::value_of<In>());
  }
  template <class In, class... Stream>
  static cudaError_t ExclusiveSum(void* storage, detail::Bytes bytes, In data, std::ptrdiff_t n, Stream... stream) {
    return ExclusiveSum(storage, bytes, data, data, n, stream...);
  }
  template <class In, class Out, class Operation, class T, class = detail::result_of<Operation, T, T>, class... Stream>
  static cudaError_t ExclusiveScan(void* storage, detail::Bytes bytes, In in, Out out, Operation operation, T initial,
                                   std::ptrdiff_t n, Stream... stream) {
    return detail::scan_all<false>({"DeviceScan", storage, bytes, stream...}, detail::raw(in), detail::raw(out), n,
                                   operation, initial);
  }
  template <class In, class Operation, class T, class = detail::result_of<Operation, T, T>, class... Stream>
  static cudaError_t ExclusiveScan(void* storage, detail::Bytes bytes, In data, Operation operation, T initial,
                                   std::ptrdiff_t n, Stream... stream) {
    return ExclusiveScan(storage, bytes, data, data, operation, initial, n, stream...);
  }
  template <class In, class Out, class = detail::unless_number<Out>, class... Stream>
  static cudaError_t InclusiveSum(void* storage, detail::Bytes bytes, In in, Out out, std::ptrdiff_t n,
                                  Stream... stream) {
    return detail::scan_all<true>({"DeviceScan", storage, bytes, stream...}, detail::raw(in), detail::raw(out), n,
                                  cub::Sum(), NullType());
  }
  template <class In, class... Stream>
  static cudaError_t InclusiveSum(void* storage, detail::Bytes bytes, In data, std::ptrdiff_t n, Stream... stream) {
    return InclusiveSum(storage, bytes, data, data, n, stream...);
  }
  template <class In, class Out, class Operation,
            class = detail::result_of<Operation, detail::value_of<In>, detail::value_of<In>>, class... Stream>
  static cudaError_t InclusiveScan(void* storage, detail::Bytes bytes, In in, Out out, Operation operation,
                                   std::ptrdiff_t n, Stream... stream) {
    return detail::scan_all<true>({"DeviceScan", storage, bytes, stream...}, detail::raw(in), detail::raw(out), n,
                                  operation, NullType());
  }
  template <class In, class Operation, class = detail::result_of<Operation, detail::value_of<In>, detail::value_of<In>>,
            class... Stream>
  static cudaError_t InclusiveScan(void* storage, detail::Bytes bytes, In data, Operation operation, std::ptrdiff_t n,
                                   Stream... stream) {
    return InclusiveScan(storage, bytes, data, data, operation, n, stream...);
  }
};

/// Behind the number of elements may stand the bits from which and up to which a key counts.
struct DeviceRadixSort {
  template <class In, class Out, class = detail::unless_number<Out>, class... Rest>
  static cudaError_t SortKeys(void* storage, detail::Bytes bytes, In in, Out out, Rest... rest) {
    return detail::sort<false>("DeviceRadixSort", storage, bytes, detail::raw(in), detail::raw(out),
                               (const NullType*)nullptr, (NullType*)nullptr, rest...);
  }
  template <class Key, class... Rest>
  static cudaError_t SortKeys(void* storage, detail::Bytes bytes, DoubleBuffer<Key>& keys, Rest... rest) {
    if (storage != nullptr) keys.selector ^= 1;
    return SortKeys(storage, bytes, keys.Alternate(), keys.Current(), rest...);
  }
  template <class KeysIn, class KeysOut, class In, class Out, class = detail::unless_number<In>, class... Rest>
  static cudaError_t SortPairs(void* storage, detail::Bytes bytes, KeysIn keys_in, KeysOut keys_out, In in, Out out,
                               Rest... rest) {
    return detail::sort<false>("DeviceRadixSort", storage, bytes, detail::raw(keys_in), detail::raw(keys_out),
                               detail::raw(in), detail::raw(out), rest...);
  }
  template <class Key, class Value, class... Rest>
  static cudaError_t SortPairs(void* storage, detail::Bytes bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values,
                               Rest... rest) {
    if (storage != nullptr) keys.selector ^= 1, values.selector ^= 1;
    return SortPairs(storage, bytes, keys.Alternate(), keys.Current(), values.Alternate(), values.Current(), rest...);
  }
  template <class In, class Out, class = detail::unless_number<Out>, class... Rest>
  static cudaError_t SortKeysDescending(void* storage, detail::Bytes bytes, In in, Out out, Rest... rest) {
    return detail::sort<true>("DeviceRadixSort", storage, bytes, detail::raw(in), detail::raw(out),
                              (const NullType*)nullptr, (NullType*)nullptr, rest...);
  }
  template <class Key, class... Rest>
  static cudaError_t SortKeysDescending(void* storage, detail::Bytes bytes, DoubleBuffer<Key>& keys, Rest... rest) {
    if (storage != nullptr) keys.selector ^= 1;
    return SortKeysDescending(storage, bytes, keys.Alternate(), keys.Current(), rest...);
  }
  template <class KeysIn, class KeysOut, class In, class Out, class = detail::unless_number<In>, class... Rest>
  static cudaError_t SortPairsDescending(void* storage, detail::Bytes bytes, KeysIn keys_in, KeysOut keys_out, In in,
                                         Out out, Rest... rest) {
    return detail::sort<true>("DeviceRadixSort", storage, bytes, detail::raw(keys_in), detail::raw(keys_out),
                              detail::raw(in), detail::raw(out), rest...);
  }
  template <class Key, class Value, class... Rest>
  static cudaError_t SortPairsDescending(void* storage, detail::Bytes bytes, DoubleBuffer<Key>& keys,
                                         DoubleBuffer<Value>& values, Rest... rest) {
    if (storage != nullptr) keys.selector ^= 1, values.selector ^= 1;
    return SortPairsDescending(storage, bytes, keys.Alternate(), keys.Current(), values.Alternate(), values.Current(),
                               rest...);
  }
};

struct DeviceSelect {
  template <class In, class Flags, class Out, class Count, class = detail::unless_number<Count>, class... Stream>
  static cudaError_t Flagged(void* storage, detail::Bytes bytes, In in, Flags flags, Out out, Count count,
                             std::ptrdiff_t n, Stream... stream) {
    return detail::select({"DeviceSelect", storage, bytes, stream...}, detail::raw(in), detail::raw(out),
                          detail::raw(count), n,
                          [from = detail::raw(flags)](auto i, auto&) { return static_cast<bool>(from[i]); });
  }
  template <class In, class Flags, class Count, class... Stream>
  static cudaError_t Flagged(void* storage, detail::Bytes bytes, In data, Flags flags, Count count, std::ptrdiff_t n,
                             Stream... stream) {
    return Flagged(storage, bytes, data, flags, data, count, n, stream...);
  }
  template <class In, class Out, class Count, class Condition, class = detail::unless_number<Count>, class... Stream>
  static cudaError_t If(void* storage, detail::Bytes bytes, In in, Out out, Count count, std::ptrdiff_t n,
                        Condition condition, Stream... stream) {
    return detail::select({"DeviceSelect", storage, bytes, stream...}, detail::raw(in), detail::raw(out),
                          detail::raw(count), n,
                          [=](auto i, auto& from) mutable { return static_cast<bool>(condition(from[i])); });
  }
  template <class In, class Count, class Condition, class... Stream>
  static cudaError_t If(void* storage, detail::Bytes bytes, In data, Count count, std::ptrdiff_t n, Condition condition,
                        Stream... stream) {
    return If(storage, bytes, data, data, count, n, condition, stream...);
  }
  template <class In, class Out, class Count, class... Stream>
  static cudaError_t Unique(void* storage, detail::Bytes bytes, In in, Out out, Count count, std::ptrdiff_t n,
                            Stream... stream) {
    return detail::select({"DeviceSelect", storage, bytes, stream...}, detail::raw(in), detail::raw(out),
                          detail::raw(count), n,
                          [](auto i, auto& from) { return i == 0 || !(from[i] == from[i - 1]); });
  }
};

struct DeviceRunLengthEncode {
  template <class In, class Firsts, class Lengths, class Count, class... Stream>
  static cudaError_t Encode(void* storage, detail::Bytes bytes, In in, Firsts firsts, Lengths lengths, Count count,
                            std::ptrdiff_t n, Stream... stream) {
    const auto length = [](std::ptrdiff_t begin, std::ptrdiff_t end) { return end - begin; };
    return detail::runs<std::ptrdiff_t>({"DeviceRunLengthEncode", storage, bytes, stream...}, detail::raw(in),
                                        detail::raw(firsts), detail::raw(lengths), detail::raw(count), n,
                                        {"", nullptr, 0}, length);
  }
};

struct DeviceHistogram {
  template <class In, class Counter, class Level, class... Stream>
  static cudaError_t HistogramEven(void* storage, detail::Bytes bytes, In in, Counter* counts, int levels, Level lower,
                                   Level upper, std::ptrdiff_t n, Stream... stream) {
    using Wide = std::conditional_t<std::is_integral_v<Level>, long long, Level>;
    const Wide bins = static_cast<Wide>(levels - 1), width = static_cast<Wide>(upper) - lower;
    return detail::histogram({"DeviceHistogram", storage, bytes, stream...}, detail::raw(in), {"", nullptr, 0}, counts,
                             levels - 1, n, [=](Level sample) {
                               if (!(lower <= sample && sample < upper)) return std::ptrdiff_t{-1};
                               const Wide from_lower = static_cast<Wide>(sample) - lower;
                               return static_cast<std::ptrdiff_t>(
                                   std::is_integral_v<Level> ? from_lower * bins / width : from_lower * (bins / width));
                             });
  }
  template <class In, class Counter, class Level, class... Stream>
  static cudaError_t HistogramRange(void* storage, detail::Bytes bytes, In in, Counter* counts, int levels,
                                    const Level* bounds, std::ptrdiff_t n, Stream... stream) {
    return detail::histogram(
        {"DeviceHistogram", storage, bytes, stream...}, detail::raw(in), detail::in("d_levels", bounds, levels), counts,
        levels - 1, n, [=](Level sample) { return std::upper_bound(bounds, bounds + levels, sample) - bounds - 1; });
  }
};

}  // namespace cub
