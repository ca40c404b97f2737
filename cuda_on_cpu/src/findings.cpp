#include "cuda_on_cpu/findings.hpp"

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"

namespace cuda_on_cpu {
namespace {

uint3 block_of(const Culprit& culprit) { return index_of(culprit.block, this_worker->launch().configuration.grid); }
uint3 thread_of(const Culprit& culprit) { return index_of(culprit.thread, this_worker->launch().configuration.block); }

/// Everything that has to be destroyed is so before the stack is given up.
template <class Sentence>
[[noreturn, gnu::noinline]] void end(cudaError_t error, const Culprit& culprit, const Sentence& sentence) {
  Worker& worker = *this_worker;
  if (worker.launch().fail(error)) {
    const std::string place = place_of_instruction(culprit.instruction);
    report((place.empty() ? "" : place + ": ") +
           running_thread(worker.launch(), block_of(culprit), thread_of(culprit)) + ": " + sentence());
  }
  worker.abandon(error);
}

std::string verb(const Culprit& culprit) {
  if (!culprit.writes) return "reads";
  return culprit.is_atomic ? "changes atomically" : "writes";
}
std::string participle(const Culprit& culprit) {
  if (!culprit.writes) return "read";
  return culprit.is_atomic ? "changed atomically" : "written";
}

/// What would have ordered the two accesses. In the same line, they are perhaps additions.
std::string cure(const Culprit& later, const Culprit& earlier, bool is_same_line) {
  if (later.block != earlier.block) {
    if (is_same_line) {
      return "nothing orders the blocks of a launch: what several blocks change needs atomic "
             "functions. Or is blockIdx missing from an index?";
    }
    return "nothing orders blocks of a launch but atomic functions, after a __threadfence().";
  }
  const bool in_warp = later.thread / 32 == earlier.thread / 32;
  const std::string barrier = in_warp ? "__syncthreads() or __syncwarp()" : "__syncthreads()";
  if (is_same_line) {
    return "nothing orders the two: use an atomic function such as atomicAdd(), or put a " + barrier + " between them.";
  }
  return "nothing orders the two: a " + barrier + " between them is missing.";
}

std::string in_place_of(std::uintptr_t instruction) {
  const std::string place = place_of_instruction(instruction);
  return place.empty() ? "" : " in " + place;
}

std::string describe_race(const Culprit& later, const Culprit& earlier) {
  const std::string place = in_place_of(earlier.instruction);
  std::string whom = "thread " + to_string(thread_of(earlier));
  if (later.block != earlier.block) whom = "block " + to_string(block_of(earlier)) + ", " + whom;
  return verb(later) + " what " + whom + " has " + participle(earlier) + place + ", and " +
         cure(later, earlier, !place.empty() && place == in_place_of(later.instruction));
}

std::string describe_peer(const std::string& begin, std::uint32_t what) {
  const Record earlier{1, 0, what};
  const Culprit other{0, 0, to_instruction(what), earlier.has(Record::writes), earlier.has(Record::is_atomic)};
  return begin + " what another process has " + participle(other) +
         (is_copy(what) ? " by a copy" : in_place_of(other.instruction)) +
         ", and nothing orders the two: a flag must be stored with memory_order_release behind the "
         "one, and found with memory_order_acquire before the other.";
}

std::string describe_unwritten(const Culprit& reader, std::uintptr_t address, bool is_shared) {
  const std::string what = reader.writes ? "changes " : "reads ";
  if (is_shared) return what + "shared memory that no thread of the block has written.";
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) return what + "memory that nobody has written.";
  return what + "byte " + std::to_string(address - found->begin) + " of the " + counted(found->bytes, "byte") +
         " allocated in " + to_string(found->place) + ", which nobody has written.";
}

std::string describe_beyond(std::uintptr_t address, const SharedVariable* nearest) {
  if (nearest == nullptr) {
    return "outside of shared memory: the launch gave it no dynamic part.";
  }
  const bool is_before = address < nearest->begin;
  const std::uintptr_t distance = is_before ? nearest->begin - address : address - nearest->begin - nearest->bytes;
  return counted(distance, "byte") + (is_before ? " before the beginning of " : " beyond the end of ") + "the " +
         counted(nearest->bytes, "byte") + " of " +
         (nearest->name == nullptr ? "dynamic shared memory that the launch gave."
                                   : "the __shared__ variable '" + std::string(nearest->name) + "'.");
}

}  // namespace

void end_by_race(const Culprit& later, const Culprit& earlier) {
  end(cudaErrorLaunchFailure, later, [&] { return describe_race(later, earlier); });
}

std::string describe_piece(const std::string& begin, const std::string& piece, std::uint32_t what) {
  const Record earlier{1, 0, what};
  const cudaError_t failed = cudaPeekAtLastError();  // of a call that nobody has looked at, perhaps that which waits
  return begin + " what " + piece + " " + (earlier.has(Record::writes) ? "writes" : "reads") +
         (is_copy(what) ? "" : in_place_of(to_instruction(what))) +
         ", and nothing makes it wait for that other stream: cudaStreamSynchronize() would, or cudaStreamWaitEvent() "
         "for an event recorded there" +
         (failed == cudaSuccess ? "."
                                : "; an earlier call has failed: " + std::string(cudaGetErrorString(failed)) + ".");
}

void end_by_piece(const Culprit& later, const std::string& piece, std::uint32_t what) {
  end(cudaErrorLaunchFailure, later, [&] { return describe_piece(verb(later), piece, what); });
}

void end_by_peer(const Culprit& later, std::uint32_t what) {
  end(cudaErrorLaunchFailure, later, [&] { return describe_peer(verb(later), what); });
}

void report_copy(bool writes, std::uint32_t what) {
  report(describe_peer(writes ? "a copy writes" : "a copy reads", what));
  set_sticky_error(cudaErrorLaunchFailure);
}

void end_by_number(const Culprit& receiver, std::uint64_t number, const SentNumber& last) {
  end(cudaErrorLaunchFailure, receiver, [&] {
    const std::string begin = "relies on having received number " + std::to_string(number) + " in a word in which ";
    if (!last.exists) return begin + "nothing has been sent.";
    return begin + "number " + std::to_string(last.number) + " is the last that was sent," +
           in_place_of(last.instruction) + ".";
  });
}

void end_by_replacing(const Culprit& sender, std::uint32_t what) {
  end(cudaErrorLaunchFailure, sender, [&] {
    return "sends in a word whose last number has been received" + in_place_of(to_instruction(what)) +
           ", and nothing has told the sender: it must have heard from the receiver since, or take "
           "another word.";
  });
}

void end_by_copy(const Culprit& reader) {
  end(cudaErrorLaunchFailure, reader, [] {
    return "reads shared memory into which an asynchronous copy is on its way: the thread that has "
           "asked for it has not waited for it.";
  });
}

void end_by_unwritten(const Culprit& reader, std::uintptr_t address, bool is_shared) {
  end(cudaErrorLaunchFailure, reader, [&] { return describe_unwritten(reader, address, is_shared); });
}

void end_by_local(const Culprit& reader, const Local& local) {
  end(cudaErrorLaunchFailure, reader, [&] {
    const std::string name = "'" + std::string(local.name) + "'";
    const std::string kind = local.may_lack_shared ? name + ", an array of its own" : "its local variable " + name;
    return "reads " + kind + ", where it has written nothing" +
           (local.may_lack_shared ? ": is __shared__ missing in " : " since its declaration in ") +
           to_string(Place{local.file, local.line}) + (local.may_lack_shared ? "?" : ".");
  });
}

void end_beyond_allocation(const Culprit& culprit, std::uintptr_t address) {
  end(cudaErrorIllegalAddress, culprit,
      [&] { return verb(culprit) + " address " + hexadecimal(address) + ", " + describe_address(address) + "."; });
}

void end_beyond_variable(const Culprit& culprit, std::uintptr_t address, const SharedVariable* nearest) {
  end(cudaErrorIllegalAddress, culprit,
      [&] { return verb(culprit) + " address " + hexadecimal(address) + ", " + describe_beyond(address, nearest); });
}

}  // namespace cuda_on_cpu
