#include "cuda_on_cpu/progress.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/host_memory.hpp"

namespace cuda_on_cpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr seconds patience{5};         ///< without a block that ends, until that is told
constexpr seconds limit{10};           ///< the same, until the program is ended, if that is asked for
constexpr seconds between_lines{10};   ///< of how far a kernel is
constexpr int asking_signal = SIGURG;  ///< whose arrival by mistake does nothing

/// Where a thread was when it was asked.
struct Sample {
  static constexpr int most = 24;
  std::uintptr_t interrupted = 0;
  std::uintptr_t instructions[most];  ///< that one, then those of the calls around it
  int frames = 0;
  bool in_kernel = false;
  uint3 block{};
  uint3 thread{};
  std::atomic<bool> is_taken = false;
};
Sample sample;

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* /*data*/) {
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == 0 || sample.frames == Sample::most) return _URC_END_OF_STACK;
  if (sample.frames == 0 && address != sample.interrupted) return _URC_NO_REASON;  // the handler's own
  sample.instructions[sample.frames++] = before_instruction != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

/// In the thread that is asked.
void take_sample(int /*signal*/, siginfo_t* /*information*/, void* raw_context) {
  const auto& context = *static_cast<const ucontext_t*>(raw_context);
  sample.in_kernel = this_worker != nullptr && this_worker->runs_kernel();
  if (sample.in_kernel) {
    sample.block = blockIdx;
    sample.thread = threadIdx;
#if defined(__x86_64__)
    sample.interrupted = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    sample.interrupted = context.uc_mcontext.pc;
#endif
    sample.frames = 0;
    _Unwind_Backtrace(add_frame, nullptr);
  }
  sample.is_taken = true;
}

/// The innermost line of the program's own source.
std::string place_of_sample() {
  std::string place;
  for (int i = 0; i < sample.frames && place.empty(); ++i) place = place_of_instruction(sample.instructions[i]);
  return place;
}

void say(const std::string& line) {
  const std::string whole = line + "\n";
  static_cast<void>(!write(STDERR_FILENO, whole.data(), whole.size()));
}

std::string in_seconds(Clock::duration time) {
  return std::to_string(std::chrono::duration_cast<seconds>(time).count()) + " s";
}

/// Looks once a second.
class Watch {
 public:
  Watch() {
    struct sigaction action {};
    action.sa_sigaction = take_sample;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(asking_signal, &action, nullptr);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // they are for the program's own threads
    try {
      std::thread([this] { look_on(); }).detach();
      ++helping_threads;
    } catch (const std::exception&) {  // then nobody watches
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void begin(const RunningLaunch& launch) {
    const std::lock_guard lock(mutex_);
    if (workers_.empty()) {
      start_ = progress_ = Clock::now();
      if (launches_++ == 0) first_ = start_;
      is_told_ = false;
    }
    launch_ = &launch;
    workers_.push_back(pthread_self());
  }
  void end() {
    const std::lock_guard lock(mutex_);
    std::erase(workers_, pthread_self());
  }

 private:
  [[noreturn]] void look_on() {
    for (;;) {
      std::this_thread::sleep_for(seconds(1));
      const std::lock_guard lock(mutex_);
      if (!workers_.empty()) look();
    }
  }

  void look() {
    const Clock::time_point now = Clock::now();
    const std::uint64_t begun = std::min<std::uint64_t>(launch_->next_block, launch_->blocks);
    const State state{launches_, begun, workers_.size()};
    if (state.launch != last_.launch || state.begun != last_.begun || state.workers != last_.workers) progress_ = now;
    last_ = state;
    const bool ends_program = settings().progress == Progress::limit;
    if (now - progress_ >= (ends_program ? limit : patience) && !is_told_) {
      is_told_ = true;
      tell_endless(now - progress_, ends_program);
      if (ends_program) _exit(124);
      said_ = now;
    } else if (!ends_program && (begun > workers_.size() || is_told_) && now - start_ >= patience &&
               now - said_ >= between_lines) {
      said_ = now;
      const std::string kernel = "kernel '" + std::string(launch_->kernel) + "': ";
      const bool counts = !launch_->configuration.cooperative && launch_->blocks > 1;
      say(kernel +
          (counts ? std::to_string(begun - std::min<std::uint64_t>(begun, workers_.size())) + " of " +
                        counted(launch_->blocks, "block") + " after "
                  : "running for ") +
          in_seconds(now - start_));
    } else if (!ends_program && now - start_ < patience && now - first_ >= between_lines &&
               now - said_ >= between_lines) {
      said_ = now;
      say(std::to_string(launches_) + " launches of kernels after " + in_seconds(now - first_) + ", now '" +
          launch_->kernel + "'");
    }
  }

  /// Asks a thread a few times, since a loop may have several lines.
  void tell_endless(Clock::duration time, bool ends_program) {
    std::string place;
    std::string others;
    std::string who = "kernel '" + std::string(launch_->kernel) + "'";
    for (int i = 0; i < 12; ++i) {
      sample.is_taken = false;
      if (pthread_kill(workers_.front(), asking_signal) != 0) break;
      for (int wait = 0; wait < 200 && !sample.is_taken; ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!sample.is_taken) break;
      if (!sample.in_kernel) continue;
      const std::string here = place_of_sample();
      if (here.empty()) continue;
      if (place.empty()) {
        place = here;
        who = running_thread(*launch_, sample.block, sample.thread);
      } else if (here != place && (others + ",").find(" " + here + ",") == std::string::npos) {
        others += (others.empty() ? " " : ", ") + here;
      }
    }
    report((place.empty() ? "" : place + ": ") + who + ": has been running for " + in_seconds(time) +
           (last_.begun > workers_.size() ? ", and no further block has ended" : ", and no block has ended") +
           (others.empty() ? "" : " (also seen in" + others + ")") +
           (ends_program ? "; a loop that does not come to its end? If it is only slow, check it with less data."
                         : "; does each loop come to its end? The host goes on when the kernel has ended. Ctrl-C ends "
                           "the program."));
  }

  struct State {
    std::uint64_t launch = 0;
    std::uint64_t begun = 0;
    std::size_t workers = 0;
  };

  std::mutex mutex_;
  std::vector<pthread_t> workers_;  ///< that run blocks of the launch
  const RunningLaunch* launch_ = nullptr;
  std::uint64_t launches_ = 0;
  Clock::time_point first_;     ///< when the first one began
  Clock::time_point start_;     ///< when this one did
  Clock::time_point progress_;  ///< when a block was last seen to end
  Clock::time_point said_;
  State last_;
  bool is_told_ = false;
};

/// Never destroyed: its thread looks on while the program ends.
Watch* watch = nullptr;
std::mutex watch_mutex;

}  // namespace

void Watched::begin(const RunningLaunch& launch) {
  {
    const std::lock_guard lock(watch_mutex);
    if (watch == nullptr) watch = new Watch;
  }
  watch->begin(launch);
}

void Watched::end() {
  if (watch != nullptr) watch->end();
}

void forget_watch() { watch = nullptr; }

}  // namespace cuda_on_cpu
