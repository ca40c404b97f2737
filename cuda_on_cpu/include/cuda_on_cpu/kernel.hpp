/// @file
/// What a translated kernel stands on: the launch, the built-in variables, shared memory, barriers
/// and the exchange of values within a warp. The names CUDA gives to them are in include/.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <driver_types.h>

// Plain thread-local memory: a thread_local object of C++ would be looked up through a function.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
constexpr int warpSize = 32;

namespace cuda_on_cpu {

/// A number, or up to three.
template <class Extents>
dim3 to_dim3(const Extents& extents) {
  if constexpr (std::is_arithmetic_v<Extents>) {
    return {static_cast<unsigned>(extents)};
  } else {
    return extents;
  }
}

/// A stream, or the number 0 for the default one.
template <class Stream>
cudaStream_t to_stream(const Stream& stream) {
  if constexpr (std::is_arithmetic_v<Stream>) {
    return nullptr;  // kernel<<<grid, block, 0, 0>>>
  } else {
    return stream;
  }
}

/// What stands between <<< and >>>. A template, since CUDA takes numbers of any type there; by
/// value, since a static constant of a class that is declared only has no address.
struct LaunchConfiguration {
  template <class Grid = dim3, class Block = dim3, class Shared = std::size_t, class Stream = cudaStream_t>
  LaunchConfiguration(Grid grid_extents, Block block_extents, Shared shared_bytes = 0,
                      const Stream& in_stream = nullptr)
      : grid(to_dim3(grid_extents)),
        block(to_dim3(block_extents)),
        shared(static_cast<std::size_t>(shared_bytes)),
        stream(to_stream(in_stream)) {}

  dim3 grid;
  dim3 block;
  std::size_t shared;  ///< bytes of dynamic shared memory
  cudaStream_t stream;
  bool cooperative = false;
  bool bounded = false;  ///< the kernel begins with exceeds_launch_bound()
};

/// A kernel together with its arguments.
class KernelCall {
 public:
  KernelCall() = default;
  virtual ~KernelCall() = default;
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

  /// Runs the one thread that the built-in variables describe.
  virtual void run_thread() const = 0;
  /// For work that is kept: a lazy stream, a graph. The caller owns it. No smart pointer, since
  /// every file with a kernel reads this one, and their header takes as long as all else here.
  virtual const KernelCall* copy() const = 0;
  /// The size of the object.
  virtual std::size_t bytes() const = 0;
  /// Pointers to the arguments.
  virtual std::vector<void*> arguments() const = 0;
};

/// A KernelCall that holds the arguments by value, as a launch does.
template <class Kernel, class... Arguments>
class BoundKernel final : public KernelCall {
 public:
  /// @param arguments a tuple of them, or of references to them.
  template <class Tuple>
  BoundKernel(Kernel kernel, Tuple&& arguments) : kernel_(kernel), arguments_(std::forward<Tuple>(arguments)) {}

  void run_thread() const override { std::apply(kernel_, arguments_); }
  const KernelCall* copy() const override { return new BoundKernel(kernel_, arguments_); }
  std::size_t bytes() const override { return sizeof *this; }
  std::vector<void*> arguments() const override {
    const auto addresses = [](const Arguments&... argument) {
      return std::vector<void*>{const_cast<char*>(&reinterpret_cast<const volatile char&>(argument))...};
    };
    return std::apply(addresses, arguments_);
  }

 private:
  Kernel kernel_;
  std::tuple<Arguments...> arguments_;
};

/// An argument that the kernel takes as `T&`: the object itself, which must be a managed one. Before a
/// `const T&` it may be a temporary. No GPU could read that, so it is only kept, and for good.
template <class T>
class Reference {
 public:
  Reference(T& object) : object_(__builtin_addressof(object)) {}
  Reference(T&& temporary) : object_(reinterpret_cast<T*>(::operator new(sizeof(T)))) {
    static_assert(std::is_const_v<T>, "what a kernel takes by reference must be a variable");
    __builtin_memcpy(const_cast<void*>(static_cast<const void*>(object_)), __builtin_addressof(temporary), sizeof(T));
  }
  operator T&() const { return *object_; }

 private:
  T* object_;
};
/// Passes an argument on as one, to a kernel whose parameters' types are not known.
template <class T>
auto by_reference(T&& argument) {
  using Object = std::remove_reference_t<T>;
  return Reference<std::conditional_t<std::is_lvalue_reference_v<T>, Object, const Object>>(std::forward<T>(argument));
}
/// What such a kernel is called with: the object, or the argument itself.
template <class T>
T& passed(Reference<T>& reference) {
  return reference;
}
/// Likewise.
template <class T>
T& passed(T& argument) {
  return argument;
}
/// What a launch holds for a parameter.
template <class Parameter>
using Held = std::conditional_t<std::is_reference_v<Parameter>, Reference<std::remove_reference_t<Parameter>>,
                                std::decay_t<Parameter>>;

/// Does the class copy or destroy in its own way? Then a function that takes it by value gets its
/// address (the rule of the Itanium C++ ABI, which all compilers for Linux follow). Not said of
/// those that only move in their own way: whether that is a constructor of theirs that counts, or a
/// template that takes anything, cannot be asked for.
template <class T>
constexpr bool has_own_copying = std::is_class_v<T>&& std::is_copy_constructible_v<T> &&
                                 !std::is_trivially_copyable_v<T> && !std::is_trivially_copy_constructible_v<T>;

/// A kernel that takes such classes. On a GPU each thread has the bits of the arguments, and no
/// constructor or destructor runs: so the kernel gets addresses of bitwise copies.
template <class... Parameters>
class BitwiseCall {
 public:
  explicit BitwiseCall(void (*kernel)(Parameters...)) : kernel_(reinterpret_cast<Function>(kernel)) {}

  void operator()(const Held<Parameters>&... arguments) const { kernel_(Passed<Parameters>(arguments)...); }

 private:
  template <class T>
  struct Image {
    explicit Image(const T& object) { __builtin_memcpy(bytes, &reinterpret_cast<const char&>(object), sizeof(T)); }
    operator void*() { return bytes; }
    alignas(T) char bytes[sizeof(T)];
  };
  template <class T>
  using Passed = std::conditional_t<has_own_copying<T>, Image<std::decay_t<T>>, T>;
  using Function = void (*)(std::conditional_t<has_own_copying<Parameters>, void*, Parameters>...);

  Function kernel_;
};

/// Enqueues a launch, or records it where the stream is being captured.
cudaError_t launch(const char* kernel, const LaunchConfiguration& configuration, Place place, const KernelCall& call);

/// A launch as the translator writes it; the arguments are copied when it is called.
class Launch {
  /// By value, since a static constant of a class that is declared only has no address; but one
  /// that is copied in its own way is copied once only.
  template <class T>
  using Argument = std::conditional_t<has_own_copying<T>, const T&, T>;

 public:
  Launch(const char* kernel, const LaunchConfiguration& configuration, CUDA_ON_CPU_HERE)
      : kernel_(kernel), configuration_(configuration), place_(place) {}

  template <class Kernel, class... Arguments,
            std::enable_if_t<(std::is_copy_constructible_v<Arguments> && ...), int> = 0>
  void operator()(Kernel kernel, Arguments... arguments) const {
    start(BoundKernel<Kernel, Arguments...>(kernel, std::tuple<Arguments...>(std::move(arguments)...)));
  }
  /// Of arguments that cannot be copied, such as an array that owns its memory, the kernel takes
  /// what they convert to.
  template <class Kernel, class... Arguments,
            std::enable_if_t<!(std::is_copy_constructible_v<std::decay_t<Arguments>> && ...), int> = 0>
  void operator()(Kernel kernel, Arguments&&... arguments) const {
    (*this)(kernel, converted(arguments)...);
  }

  /// A launch of a kernel whose parameters' types are known.
  template <class Kernel, class... Parameters>
  class Typed {
   public:
    Typed(const Launch& launch, Kernel kernel) : launch_(launch), kernel_(kernel) {}
    /// Converts the arguments to the parameters' types, as a call does, and copies them once.
    void with(Argument<Held<Parameters>>... arguments) const {
      launch_.start(BoundKernel<Kernel, Held<Parameters>...>(kernel_, std::tie(arguments...)));
    }

   private:
    const Launch& launch_;
    Kernel kernel_;
  };

  /// @param address tells the parameters' types.
  /// @param kernel calls it.
  template <class Kernel, class... Parameters>
  auto of(void (*address)(Parameters...), [[maybe_unused]] Kernel kernel) const {
    if constexpr ((has_own_copying<Parameters> || ...)) {
      using Call = BitwiseCall<Parameters...>;
      return Typed<Call, Parameters...>(*this, Call(address));
    } else {
      return Typed<Kernel, Parameters...>(*this, kernel);
    }
  }

 protected:
  /// What stands between <<< and >>>, for launches that change it.
  LaunchConfiguration& configuration() { return configuration_; }

 private:
  void start(const KernelCall& call) const { launch(kernel_, configuration_, place_, call); }

  template <class T>
  static auto converted(T& argument) {
    if constexpr (std::is_copy_constructible_v<std::decay_t<T>>) {
      return static_cast<std::decay_t<T>>(argument);
    } else {
      return +argument;  // a pointer or a number, by its conversion
    }
  }

  const char* kernel_;
  LaunchConfiguration configuration_;
  Place place_;
};

/// A launch of a kernel that has __launch_bounds__.
class BoundedLaunch : public Launch {
 public:
  BoundedLaunch(const char* kernel, const LaunchConfiguration& launch_configuration, CUDA_ON_CPU_HERE)
      : Launch(kernel, launch_configuration, place) {
    configuration().bounded = true;
  }
};

/// Where a launch that asks for its kernel's bound wants to have it; else null.
extern __thread unsigned* asked_bound;
/// Ends a kernel whose bound the launch could not know, since it was by a pointer.
void end_beyond_launch_bound(unsigned bound);

/// What __launch_bounds__ becomes: the kernel's first statement.
/// @return whether it is to end, since a launch has only asked for the bound.
inline bool exceeds_launch_bound(unsigned long long bound) {
  const auto most = static_cast<unsigned>(bound);
  if (asked_bound != nullptr) [[unlikely]] {
    *asked_bound = most;
    return true;
  }
  if (blockDim.x * blockDim.y * blockDim.z > most) [[unlikely]]
    end_beyond_launch_bound(most);
  return false;
}

/// Where the shared variables of the running block are. An entry holds only if it has the block's
/// number.
struct SharedMemory {
  /// A variable's place in the block of that number.
  struct Entry {
    std::uint64_t block;
    char* address;
  };
  static constexpr unsigned entries = 1024;

  std::uint64_t block;
  char* dynamic;
  Entry entry[entries];
};
extern __thread SharedMemory* shared_memory;

/// Gives a variable its place in the running block's shared memory, and a number if it has none.
char* place_shared(const char* name, std::size_t bytes, std::size_t alignment, unsigned& id);
/// Where the part begins that the launch gave a size to.
char* dynamic_shared_memory(const char* name);

/// A __shared__ variable. The type of the closure tells the declarations apart, in templates, too.
template <class T, class Declaration>
T& shared(Declaration /*declaration*/, const char* name, std::size_t alignment = alignof(T)) {
  static unsigned id = 0;  // 0 until a thread has come by
  const SharedMemory* const memory = shared_memory;
  if (memory != nullptr) {
    const SharedMemory::Entry& entry = memory->entry[__atomic_load_n(&id, __ATOMIC_RELAXED)];
    if (entry.block == memory->block) [[likely]]
      return *reinterpret_cast<T*>(entry.address);
  }
  return *reinterpret_cast<T*>(place_shared(name, sizeof(T), alignment, id));
}

/// The one array that the launch gives a size to: extern __shared__ T name[];
template <class T>
T* dynamic_shared(const char* name) {
  return reinterpret_cast<T*>(dynamic_shared_memory(name));
}

/// A thread that waits, as far as code that is compiled into kernels needs to know it.
struct Suspended {
  void* context;         ///< where it goes on
  uint3 index;           ///< its threadIdx
  unsigned votes;        ///< what a barrier that counts has counted
  std::uint64_t result;  ///< what an exchange has brought
};

/// The thread that waits, and where to go on instead; nowhere if it need not wait.
struct Switch {
  Suspended* from;
  void* to;
};

/// Lets another thread run until `from` can go on. Compiled into the kernel: a processor predicts
/// where a function returns to from where it was called, and would be wrong each time if this were
/// behind a call.
inline void switch_threads(Switch threads) {
  if (threads.to != nullptr) {
    const auto back = boost::context::detail::jump_fcontext(threads.to, threads.from);
    static_cast<Suspended*>(back.data)->context = back.fctx;
  }
  threadIdx = threads.from->index;
}

// Barriers of the block and of the grid, for device_functions.h and cooperative_groups.h.
/// What the counting forms of __syncthreads() make of the threads' predicates.
enum class Vote { none, count, all, any };
/// The running thread has come to its block's barrier.
Switch arrive_at_barrier(Vote vote, bool predicate, const char* what, Place place);
/// __syncthreads() and its counting forms. The name and the line are for reports.
inline unsigned block_barrier(Vote vote, bool predicate, const char* what, Place place) {
  const Switch threads = arrive_at_barrier(vote, predicate, what, place);
  switch_threads(threads);
  return threads.from->votes;
}
/// this_grid().sync().
void grid_barrier(Place place);

/// Calls the function with each lane of the mask.
template <class Function>
void for_lanes(unsigned mask, Function function) {
  for (; mask != 0; mask &= mask - 1) function(static_cast<unsigned>(__builtin_ctz(mask)));
}
/// What a lane of a warp gives to an exchange and gets from it.
struct Lane {
  std::uint64_t value;
  std::uint64_t result;
  unsigned argument;
  bool missing;  ///< to be set if the lane needs one that does not take part, the argument's
};
/// Computes the results of the lanes in the mask; the others are not to be touched.
using Combine = void (*)(Lane* lanes, unsigned mask);

/// What an exchange is about.
struct Exchange {
  unsigned mask;
  unsigned argument;
  std::uint64_t value;
  Combine combine;
  const char* what;
  Place place;
};
/// The running thread has come to an exchange with lanes of its warp.
Switch arrive_at_exchange(const Exchange& exchange);
/// Waits until all lanes of the mask have come with the same mask and the same `combine`.
inline std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned argument, Combine combine, const char* what,
                              Place place) {
  const Switch threads = arrive_at_exchange({mask, argument, value, combine, what, place});
  switch_threads(threads);
  return threads.from->result;
}

/// The lanes of the own warp that have not ended.
unsigned active_lanes();
/// Waits until every other thread has ended or waits as well. Those lanes of the own warp go on
/// together that have come here by the same calls: as if a branch had kept them together.
unsigned converge(const char* what, Place place);
/// The running thread's number in its block.
unsigned thread_in_block();

/// A copy from global to shared memory that a thread has asked for, and that is not done until the
/// thread waits for it: that is the latest time at which it may come.
struct AsyncCopy {
  void* to;
  const void* from;
  unsigned bytes;
  unsigned zeros;  ///< of them, so many at the end are not copied but set to zero
};
/// The running thread asks for a copy; until it is done there are NaNs in its place.
void begin_async_copy(const AsyncCopy& copy, Place place);
/// What the running thread has asked for since the last call becomes a group.
void commit_async_copies();
/// Takes the running thread's oldest copy, unless it belongs to the `prior` latest groups.
/// @return whether there was one.
bool take_async_copy(unsigned prior, AsyncCopy& copy);

/// Whether the address is in the shared memory of the running block.
bool is_shared(const void* address);

// What other kinds of barriers are made of: barriers of tiles of several warps, cuda::barrier.
/// Waits until wake_all() is called for the same key.
void wait_for(const void* key, const char* what, Place place);
/// The threads that wait for the key go on.
void wake_all(const void* key);
/// Waits for all threads of the own tile, which has 64 threads or another power of two.
void tile_barrier(unsigned size, const char* what, Place place);
/// One value for each thread of the own tile, to exchange them between two of its barriers.
std::uint64_t* tile_values(unsigned size);
/// A copy that is done when a barrier's phase ends; until then there are NaNs in shared memory.
void begin_barrier_copy(const void* barrier, const AsyncCopy& copy);
/// Takes the oldest copy of the barrier. @return whether there was one.
bool take_barrier_copy(const void* barrier, AsyncCopy& copy);

/// Ends the kernel because of a mistake that a header has found.
[[noreturn]] void fail_kernel(const char* sentence, Place place);
/// __trap(): ends the kernel with an error.
[[noreturn]] void trap(Place place);
/// assert() in a kernel.
[[noreturn]] void failed_assertion(const char* expression, Place place);
/// Is this thread one of a kernel?
bool runs_in_kernel();
/// __threadfence() and its relatives.
void fence();
/// For loops that wait for another thread: __nanosleep().
void let_others_run();
/// How many attempts in a row, of this OS thread, have changed nothing.
extern __thread unsigned futile_attempts;
/// An atomic function has run, or a loop looks at a volatile variable. A thread whose last
/// attempts have changed nothing seems to wait for another one, so that the others get a turn.
inline void note_attempt(bool is_futile) {
  if (!is_futile) {
    futile_attempts = 0;
  } else if (++futile_attempts >= 256) [[unlikely]] {
    futile_attempts = 0;
    let_others_run();
  }
}
/// Whether a loop of this launch has waited for a volatile variable: then these may be flags.
extern __thread bool has_looked;
/// A loop looks at a volatile variable.
inline void note_look() {
  has_looked = true;
  note_attempt(true);
}
/// The lanes that have come here wait for each other, in the usual order of the threads. The other
/// orders show that a program relies on it.
void go_in_lockstep(Place place);
/// A store through a volatile pointer, from a time when the lanes of a warp went in lockstep.
template <class Target, class Value>
void store_in_lockstep(Target& target, const Value& value, CUDA_ON_CPU_HERE) {
  const auto read = value();
  go_in_lockstep(place);
  target = read;
  go_in_lockstep(place);
}

/// How many blocks a multiprocessor runs at the same time, by threads and shared memory alone.
cudaError_t occupancy(int* blocks, int threads, std::size_t shared);
/// The name in the program's symbols, kept for the rest of the run.
const char* function_name(const void* function);

}  // namespace cuda_on_cpu
