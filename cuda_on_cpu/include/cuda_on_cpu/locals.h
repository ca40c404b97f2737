/// @file
/// For programs whose every access is checked: local variables that are declared without a value begin with one that
/// tells that nobody has written them. Comes before all else, so it includes nothing.
#pragma once

namespace cuda_on_cpu {

/// A declaration in device code.
struct Local {
  const char* name;
  const char* file;
  unsigned line;
  bool may_lack_shared;  ///< an array of a function that waits for the other threads
  unsigned number;       ///< counted from 1; 0 for one that nobody has come to
};

/// Fills it. The compiler does not know this function, and so reports all accesses to the variable from now on.
void begin_local(Local& local, volatile void* begin, unsigned long bytes);

/// Numbers and pointers of at least a word, and arrays of them.
template <class T>
constexpr bool is_watched = !__is_class(T) && !__is_union(T) && sizeof(T) % 4 == 0;
template <class T, unsigned long n>
constexpr bool is_watched<T[n]> = is_watched<T>;

template <class T>
inline void begin_local(Local& local, T& variable) {
  if constexpr (is_watched<T>) begin_local(local, __builtin_addressof(variable), sizeof(T));
}

}  // namespace cuda_on_cpu
