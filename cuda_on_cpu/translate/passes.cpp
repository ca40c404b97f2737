#include <vector>

#include "finders.hpp"
#include "translate.hpp"

namespace cuda_on_cpu {
namespace {

/// A preprocessed text and the device functions in it.
class Pass {
 public:
  Pass(std::string_view text, const std::string& file)
      : text_(text), tokens_(scan(text, file, true)), functions_(find_device_functions(tokens_)) {}

  const std::vector<DeviceFunction>& functions() const { return functions_; }

  std::string_view body(std::size_t function) const {
    const Range range = functions_[function].body;
    return between(offset(range.first), offset(range.end));
  }

  /// What stands between the body of the function before this one and its own.
  std::string_view before(std::size_t function) const {
    const std::size_t first = function == 0 ? 0 : offset(functions_[function - 1].body.end);
    if (function == functions_.size()) return text_.substr(first);
    return between(first, offset(functions_[function].body.first));
  }

  /// The line of the preprocessor that says where the text goes on. @param function whose body, or
  /// behind whose body.
  std::string place(std::size_t function, bool is_behind) const {
    const Range range = functions_[function].body;
    const Token& token = tokens_[is_behind ? range.end : range.first];
    return "\n# " + std::to_string(token.line) + " \"" + std::string(token.file) + "\"\n";
  }

 private:
  std::size_t offset(std::size_t token) const {
    return static_cast<std::size_t>(tokens_[token].text.data() - text_.data());
  }
  std::string_view between(std::size_t first, std::size_t end) const { return text_.substr(first, end - first); }

  std::string_view text_;
  Tokens tokens_;
  std::vector<DeviceFunction> functions_;
};

/// The host's function of the same name and parameters that comes first from here on.
std::size_t counterpart(const Pass& host, std::size_t from, const DeviceFunction& wanted) {
  const auto& functions = host.functions();
  for (std::size_t i = from; i < functions.size(); ++i) {
    if (functions[i].name == wanted.name && functions[i].is_kernel == wanted.is_kernel &&
        functions[i].is_host == wanted.is_host) {
      return i;
    }
  }
  return functions.size();
}

}  // namespace

std::string merge_passes(std::string_view host_text, std::string_view device_text, const std::string& file) {
  if (host_text == device_text) return std::string(host_text);
  const Pass host(host_text, file);
  const Pass device(device_text, file);
  const std::size_t count = device.functions().size();
  std::string text;
  std::size_t next = 0;       // of the host's
  bool were_together = true;  // the functions before these
  for (std::size_t i = 0; i <= count; ++i) {
    const bool at_end = i == count;
    const std::size_t same = at_end ? host.functions().size() : counterpart(host, next, device.functions()[i]);
    const bool are_together = at_end ? next == same : same == next && same < host.functions().size();
    // Behind the same function and before the same: the host's, which has all that the host runs.
    const bool is_hosts = were_together && are_together;
    if (i > 0) text += is_hosts ? host.place(next - 1, true) : device.place(i - 1, true);
    text += is_hosts ? host.before(next) : device.before(i);
    if (at_end) break;
    const bool is_known = same < host.functions().size();
    if (is_known && device.functions()[i].is_host && host.body(same) != device.body(i)) {
      text += "if (::cuda_on_cpu::runs_in_kernel()) {" + device.place(i, false);
      text += device.body(i);
      text += "} else {" + host.place(same, false);
      text += host.body(same);
      text += "}";
    } else {
      text += device.place(i, false);
      text += device.body(i);
    }
    were_together = is_known;
    if (is_known) next = same + 1;
  }
  return text;
}

}  // namespace cuda_on_cpu
