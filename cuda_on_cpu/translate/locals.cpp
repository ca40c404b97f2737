#include "finders.hpp"

namespace cuda_on_cpu {
namespace {

/// Reads the statements of device functions.
class LocalFinder {
 public:
  explicit LocalFinder(const Tokens& tokens) : tokens_(tokens) {}

  void look_into(const DeviceFunction& function) {
    for (std::size_t i = function.name_at; i-- > 0 && !tokens_.is_any(i, {";", "{", "}"});) {
      if (tokens_.is_any(i, {"constexpr", "consteval"})) return;  // where nothing can be called
    }
    body_ = function.body;
    is_class_ = false;
    bool begins = true;  // does a statement?
    for (std::size_t i = next(body_.first - 1); i < body_.end; i = next(i)) {
      if (begins) is_class_ = false;
      if (begins) read_declaration(i);
      if (tokens_.is_any(i, {"struct", "class", "union", "enum"})) is_class_ = true;
      if ((tokens_.is(i, "for") && tokens_.is(next(i), "(")) || (tokens_.is(i, "{") && is_class_))
        i = tokens_.close_of(tokens_.is(i, "for") ? next(i) : i);
      begins = tokens_.is_any(i, {";", "{", "}"});
    }
  }

  std::map<std::size_t, std::string> take() { return std::move(found_); }

 private:
  std::size_t next(std::size_t place) const {
    const std::size_t behind = tokens_.next(place);
    return behind == none ? tokens_.size() : behind;
  }

  /// Behind the brackets that may stand here.
  std::size_t behind_brackets(std::size_t place) const {
    while (tokens_.opens(place)) place = next(tokens_.close_of(place));
    return place;
  }

  /// `float` or `std::array<int, 4> const*`, and the name behind it. @return that name; none if this is something else.
  std::size_t read_type(std::size_t place) const {
    int words = 0;
    std::size_t name = none;
    if (tokens_.is(place, "alignas")) place = behind_brackets(next(place));
    for (; place < body_.end; place = next(place)) {
      if (tokens_.is_any(
              place, {"return",    "goto",     "using",     "namespace",  "typedef",     "delete", "throw",  "case",
                      "else",      "do",       "struct",    "class",      "union",       "enum",   "static", "extern",
                      "constexpr", "template", "co_return", "__shared__", "operator",    "sizeof", "new",    "default",
                      "friend",    "public",   "private",   "asm",        "thread_local"}))
        return none;
      if (tokens_.is(place, "<")) {
        while (place < body_.end && !tokens_.is_any(place, {">", ";", "(", "{", "="})) place = next(place);
        if (!tokens_.is(place, ">")) return none;
        name = none;
      } else if (tokens_.is_word(place)) {
        ++words;
        name = place;
      } else if (tokens_.is_any(place, {"::", "*"})) {
        if (words == 0 && tokens_.is(place, "*")) return none;
        if (tokens_.is(place, "::")) --words;
        name = none;
      } else {
        break;
      }
    }
    return words >= 2 ? name : none;
  }

  void read_declaration(std::size_t place) {
    std::string text;
    for (std::size_t name = read_type(place); name < body_.end; name = next(place)) {
      while (tokens_.is(name, "*")) name = next(name);
      place = next(name);
      const bool is_array = tokens_.is(place, "[");
      while (tokens_.is(place, "[")) place = behind_brackets(place);
      if (!tokens_.is_word(name)) return;
      if (!tokens_.is_any(place, {";", ","})) {
        if (!tokens_.is_any(place, {"=", "(", "{"})) return;
        while (place < body_.end && !tokens_.is_any(place, {";", ","}))
          place = tokens_.opens(place) ? behind_brackets(place) : next(place);
      } else if (const std::string_view word = tokens_[name].text; !is_exchanged(word)) {
        text += " CUDA_ON_CPU_LOCAL(" + std::string(word) + ", " +
                (is_array && tokens_.contains(body_, "__syncthreads") ? "true)" : "false)");
      }
      if (!tokens_.is(place, ",")) break;
    }
    if (!text.empty() && tokens_.is(place, ";")) found_[place + 1] += text;
  }

  /// Is it given to a function such as __shfl_sync()? What that gives in return for what is not set, many do not use.
  bool is_exchanged(std::string_view name) const {
    for (std::size_t i = body_.first; i < body_.end; ++i) {
      if (tokens_.is_word(i) && tokens_[i].text.starts_with("__shfl") && tokens_.is(next(i), "(") &&
          tokens_.contains({i, tokens_.close_of(next(i))}, name))
        return true;
    }
    return false;
  }

  const Tokens& tokens_;
  Range body_ = {0, 0};
  bool is_class_ = false;  ///< does the statement define one?
  std::map<std::size_t, std::string> found_;
};

}  // namespace

std::map<std::size_t, std::string> find_locals(const Tokens& tokens, const std::vector<DeviceFunction>& functions) {
  LocalFinder finder(tokens);
  for (const DeviceFunction& function : functions) finder.look_into(function);
  return finder.take();
}

}  // namespace cuda_on_cpu
