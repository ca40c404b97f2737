/// @file
/// What the translator looks for in a file: kernels and device functions, what in them can never
/// run on a processor, calls that nvcc refuses, inline PTX, casts of kernels, the runtime's
/// functions as values, stores through what is volatile.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scanner.hpp"

namespace cuda_on_cpu {

/// A function whose declaration says __global__ or __device__, and that has a body.
struct DeviceFunction {
  std::string_view name;
  std::size_t name_at = 0;  ///< the token
  bool is_kernel = false;
  bool is_host = false;  ///< __host__ __device__
  bool is_template = false;
  Range bound = {0, 0};       ///< the first argument of __launch_bounds__; empty if there is none
  Range parameters = {0, 0};  ///< what stands in its parentheses
  Range body = {0, 0};        ///< from behind the brace that opens it up to the one that closes it
};

/// All of them in a file, in its order. Macros are not looked into.
std::vector<DeviceFunction> find_device_functions(const Tokens& tokens);

/// The qualifiers of `__device__`, `__constant__` and `__managed__` variables of namespaces, with the section that each
/// variable belongs to. Others, as those of templates and classes and those that are const, the linker may move
/// together with the host's.
std::map<std::size_t, std::string> find_device_variables(const Tokens& tokens);

/// Has a header of the system a function of that name, in a preprocessed program? The standard
/// library's may be found by the types of the arguments, and the runtime's are there for kernels.
bool has_function_in_headers(const Tokens& tokens, std::string_view name);

/// What a preprocessed program asks for that is not there on a processor: textures, the driver's
/// API, inline PTX that is not known, launches by kernels.
/// @param known_ptx the statements that are, by the tokens that they begin with.
/// @throws TranslationError with a sentence on the first.
void refuse_what_is_missing(const Tokens& tokens, const std::vector<DeviceFunction>& functions,
                            const std::set<std::size_t>& known_ptx);

// Calls that nvcc refuses, and that a compiler for one processor would take: of the host's
// functions by device code, of the device's by host code, of kernels without a launch.

/// Refuses such calls in a preprocessed program, and kernels that return something. Only what is
/// certain is refused: the name must be that of one function, which is neither a template nor
/// constexpr nor a member, has as many parameters as the call has arguments, and is in a namespace
/// around the caller's; all else that the program has of the name must be calls and launches; and
/// no header of the system may have a function of the name.
/// @throws TranslationError with a sentence on the first.
void refuse_wrong_calls(const Tokens& tokens);

// The inline PTX that CUDA on the CPU knows: reading a special register, and `mma.sync`, the
// product of small matrices by a warp, which C++ has no other way to ask for in all its shapes.

/// `asm volatile("..." : ... : ...)`, without its semicolon.
struct InlinePtx {
  std::size_t end;          ///< the token behind it
  std::string replacement;  ///< an expression of C++, on one line
};

/// All in device functions whose instruction is known, by the token that they begin with.
std::map<std::size_t, InlinePtx> find_inline_ptx(const Tokens& tokens, const std::vector<DeviceFunction>& functions);

// Casts of kernels to untyped pointers, `(void*)kernel`: an address does not tell the types of the
// parameters, without which a kernel cannot be called here.

/// `(const void*)kernel` or `reinterpret_cast<void*>(&kernel<float>)`.
struct Cast {
  std::size_t first;  ///< the tokens of what is cast
  std::size_t last;   ///< behind them
  std::size_t end;    ///< behind the cast
  bool is_const;

  /// What takes its place: a call that notes the types.
  std::string around(const std::string& address) const {
    const std::string call = "::cuda_on_cpu::untyped(" + address + ")";
    return is_const ? "static_cast<const void*>(" + call + ")" : call;
  }
};

/// All casts of the kernels that the tokens declare, by the token that they begin with.
std::map<std::size_t, Cast> find_casts(const Tokens& tokens);

// The runtime's functions as values: `std::unique_ptr<float, decltype(&cudaFree)>`.

/// Behind `::`, an expression for the runtime's function of that name with NVIDIA's signature;
/// empty if it has that already, or is none. A function that is called has one parameter more, for
/// the place. Those that take a kernel, or the address of any pointer without a place, such as
/// cudaHostGetDevicePointer(), are left as the header has them.
std::string function_value(std::string_view name);

/// Behind the declarations of local variables without a value: what tells the check of every access to look after them.
std::map<std::size_t, std::string> find_locals(const Tokens& tokens, const std::vector<DeviceFunction>& functions);

// Where device code stores through what is declared volatile, and where it waits by asking again
// and again. Programs from the time when the threads of a warp went in lockstep rely on it at such
// a store: a reduction without any waiting.

/// `partial[t] += partial[t + 16]`, as a statement and without its semicolon.
struct VolatileStore {
  Range target;
  std::string operation;  ///< "+" of "+=", nothing of "="
  Range value;
};

/// What a program does with volatile variables.
struct VolatileUses {
  std::map<std::size_t, VolatileStore> stores;  ///< by the token that they begin with
  /// The `;` or the `}` that ends each loop with an empty body, as in `while (*flag == 0);`: a
  /// thread that waits there for another one.
  std::vector<std::size_t> empty_loops;
  /// Where the conditions of loops begin that read a volatile variable.
  std::vector<std::size_t> watching_loops;
};

/// Those in the functions of a file.
VolatileUses find_volatile_uses(const Tokens& tokens, const std::vector<DeviceFunction>& functions);

}  // namespace cuda_on_cpu
