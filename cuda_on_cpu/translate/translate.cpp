#include "translate.hpp"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <set>
#include <sstream>
#include <utility>

#include "finders.hpp"

namespace cuda_on_cpu {
namespace {

/// The `<<<` or the `>>>` of a launch, which may have blanks in them.
struct Brackets {
  std::size_t first;
  std::size_t last;
};

struct Launch {
  Range kernel;
  Range configuration;  ///< what stands between <<< and >>>
  Range arguments;
};

/// What takes the place of tokens.
struct Replacement {
  std::size_t end;                    ///< behind them
  std::function<std::string()> text;  ///< with all their line breaks
};

std::string in_quotes(const std::string& text) { return (std::ostringstream() << std::quoted(text)).str(); }

class Translator {
 public:
  Translator(std::string_view text, const std::string& file, bool preprocessed)
      : file_(file),
        tokens_(scan(text, file_, preprocessed)),
        functions_(find_device_functions(tokens_)),
        preprocessed_(preprocessed) {}

  std::string translate() {
    find_ptx_and_casts();
    if (preprocessed_) refuse_wrong_calls(tokens_);
    find_own_atomics();
    find_bounds();
    if (preprocessed_) find_volatiles();
    if (preprocessed_) {
      for (const auto& [place, text] : find_locals(tokens_, functions_)) inserted_[place] = text + inserted_[place];
    }
    find();
    return (preprocessed_ ? "" : "#line 1 " + in_quotes(file_) + "\n") + emit({0, tokens_.size()});
  }

 private:
  // ------------------------------------------------------------------------- walking over tokens

  [[noreturn]] void fail(std::size_t place, const std::string& what) const { refuse(tokens_[place], what); }

  bool is(std::size_t place, std::string_view wanted) const { return tokens_.is(place, wanted); }
  bool is_border(std::size_t place) const { return tokens_.is_border(place); }
  std::size_t previous(std::size_t place) const { return tokens_.previous(place); }
  std::size_t next(std::size_t place) const { return tokens_.next(place); }

  /// The bracket that closes the one here.
  std::size_t close_of(std::size_t open) const {
    const std::size_t close = tokens_.close_of(open);
    if (close == tokens_.size()) fail(open, "the '" + std::string(tokens_[open].text) + "' is never closed");
    return close;
  }

  /// The bracket that opens what the one here closes.
  std::size_t open_of(std::size_t close) const {
    std::size_t depth = 0;
    for (std::size_t i = close; i != none && !is_border(i); --i) {
      if (tokens_.closes(i)) ++depth;
      if (tokens_.opens(i) && --depth == 0) return i;
    }
    fail(close, "the '" + std::string(tokens_[close].text) + "' was never opened");
  }

  /// Is it a '<' behind a name? If not, it compares.
  bool opens_template(std::size_t place) const {
    if (!is(place, "<") || is(place + 1, "=")) return false;
    const std::size_t before = previous(place);
    return before != none && is_name(before);
  }

  /// The '<' of the template arguments that end with this '>'.
  std::size_t open_of_template(std::size_t close) const {
    std::size_t depth = 0;
    for (std::size_t i = close; i != none && !is_border(i) && !is(i, ";") && !is(i, "{"); --i) {
      if (tokens_.closes(i)) {
        i = open_of(i);
      } else if (is(i, ">") && !is(i + 1, "=")) {
        ++depth;
      } else if (is(i, "<") && i > 0 && is(i - 1, "<")) {
        --i;  // a shift: two templates never open side by side
      } else if (opens_template(i) && --depth == 0) {
        return i;
      }
    }
    fail(close, "the template arguments that end with this '>' have no beginning");
  }

  std::size_t close_of_template(std::size_t open, std::size_t end) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < end; ++i) {
      if (tokens_.opens(i)) {
        i = close_of(i);
      } else if (is(i, "<") && is(i + 1, "<")) {
        ++i;
      } else if (is(i, "<")) {
        ++depth;
      } else if (is(i, ">") && --depth == 0) {
        return i;
      }
    }
    fail(open, "the template arguments that begin with this '<' have no end");
  }

  // ------------------------------------------------------------------------------------- finding

  /// Replaces the tokens by a text on one line, behind which their line breaks come.
  void replace(Range range, const std::string& text) {
    replacements_[range.first] = {range.end, [=, this] { return text + line_breaks(range); }};
  }

  void find_ptx_and_casts() {
    std::set<std::size_t> known;
    for (const auto& [first, statement] : find_inline_ptx(tokens_, functions_)) {
      known.insert(first);
      replace({first, statement.end}, statement.replacement);
    }
    if (preprocessed_) refuse_what_is_missing(tokens_, functions_, known);
    if (preprocessed_) {
      for (const auto& [qualifier, section] : find_device_variables(tokens_))
        replace({qualifier, qualifier + 1}, "CUDA_ON_CPU_SECTION(\"" + section + "\")");
    }
    for (const auto& [first, cast] : find_casts(tokens_))
      replace({first, cast.end}, cast.around(flat({cast.first, cast.last})));
  }

  void find_volatiles() {
    const VolatileUses uses = find_volatile_uses(tokens_, functions_);
    for (const auto& [first, store] : uses.stores) {
      replacements_[first] = {store.value.end, [store = store, this] { return store_text(store); }};
    }
    for (const std::size_t end : uses.empty_loops)
      inserted_[end] = std::string(" ::cuda_on_cpu::let_others_run()") + (is(end, "}") ? "; " : "");
    for (const std::size_t condition : uses.watching_loops) inserted_[condition] += " ::cuda_on_cpu::note_look(), ";
  }

  /// A kernel with __launch_bounds__ tells its launches by its first statement; so must its
  /// namesakes.
  void find_bounds() {
    for (const DeviceFunction& function : functions_) {
      if (function.is_kernel && function.bound.first < function.bound.end) bounded_.insert(function.name);
    }
    for (const DeviceFunction& function : functions_) {
      if (!function.is_kernel || !bounded_.contains(function.name)) continue;
      const bool has_bound = function.bound.first < function.bound.end;
      inserted_[function.body.first] +=
          " if (::cuda_on_cpu::exceeds_launch_bound(" + (has_bound ? flat(function.bound) : "~0U") + ")) return;";
    }
  }

  /// `#if __CUDA_ARCH__ < 600`, and then an atomicAdd() for double: old devices had none, so many
  /// programs bring their own, whose signature is that of the runtime's.
  void find_own_atomics() {
    for (const DeviceFunction& function : functions_) {
      if (function.name != "atomicAdd") continue;
      std::string parameters;
      for (std::size_t i = function.parameters.first; i < function.parameters.end; ++i) {
        if (tokens_.is_any(i, {"double", "float", "int", "*", ","})) parameters += tokens_[i].text;
      }
      if (parameters == "double*,double") own_atomics_.insert(function.name_at);
    }
  }

  /// Is this the name of a kernel with __launch_bounds__, with or without template arguments?
  bool is_bounded(Range kernel) const {
    return std::any_of(bounded_.begin(), bounded_.end(),
                       [&](std::string_view name) { return tokens_.contains(kernel, name); });
  }

  void find() {
    // One entry for each open brace: is it a namespace's? And a copy for each open #if, since its
    // branches open the same braces again.
    std::vector<bool> braces;
    std::vector<std::vector<bool>> branches;
    bool in_define = false;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::directive) {
        follow(token.text, braces, branches);
      } else if (is_border(i)) {
        in_define = token.kind == TokenKind::define;
      } else if (token.is("{") && !in_define) {
        braces.push_back(is_namespace(i));
      } else if (token.is("}") && !in_define && !braces.empty()) {
        braces.pop_back();
      } else if (token.is("__shared__")) {
        find_shared(i, !in_define && std::find(braces.begin(), braces.end(), false) == braces.end());
      } else if (is(i, "<") && is(i + 1, "<")) {
        const std::size_t begin = i;
        const std::size_t last = end_of_opening(begin);
        while (is(i + 1, "<")) ++i;
        if (last != none) find_launch({begin, i = last});
      }
    }
  }

  static void follow(std::string_view directive, std::vector<bool>& braces, std::vector<std::vector<bool>>& branches) {
    directive.remove_prefix(std::min(directive.find_first_not_of("# \t"), directive.size()));
    if (directive.starts_with("if")) {
      branches.push_back(braces);
    } else if (directive.starts_with("el") && !branches.empty()) {
      braces = branches.back();
    } else if (directive.starts_with("endif") && !branches.empty()) {
      branches.pop_back();
    }
  }

  bool is_namespace(std::size_t brace) const {
    std::size_t i = previous(brace);
    if (i != none && tokens_[i].kind == TokenKind::literal) return true;  // extern "C" {
    for (; i != none && !is(i, ";") && !is(i, "{") && !is(i, "}"); i = previous(i)) {
      if (is(i, "namespace")) return true;
    }
    return false;
  }

  // ------------------------------------------------------------------------------------ launches

  /// The last '<' of `<<<`, or of `<< <`, which formatters make of it; none if this is a shift.
  std::size_t end_of_opening(std::size_t begin) const {
    const std::size_t before = previous(begin);
    const std::size_t third = next(begin + 1);
    if (third == none || !is(third, "<") || is(third + 1, "<")) return none;
    return before != none && is(before, "operator") ? none : third;
  }

  void find_launch(Brackets opening) {
    const std::size_t begin = opening.first;
    const std::size_t last = previous(begin);
    if (last == none) fail(begin, "no kernel stands before <<<");
    const std::size_t first = kernel_begin(last, begin);
    const Brackets closing = configuration_end(opening.last + 1);
    if (closing.first == none) fail(begin, "the <<< of this launch is never closed by >>>");
    const std::size_t open = next(closing.last);
    if (open == none || !is(open, "(")) {
      fail(closing.first, "a launch needs its arguments in parentheses behind >>>");
    }
    const Range configuration = {opening.last + 1, closing.first};
    if (preprocessed_ && count_arguments(configuration) == 1 && !expands_pack(configuration)) {
      fail(begin, "a launch needs a grid and a block: kernel<<<blocks, threads>>>(...)");
    }
    const Launch launch = {{first, last + 1}, configuration, {open + 1, close_of(open)}};
    launches_[first] = launch;
    replacements_[first] = {launch.arguments.end + 1, [=, this] { return launch_text(launch); }};
    pass_arguments(launch);
  }

  /// Goes back over `a::b<c>`, `a->b`, `a[i]`, `(*a)` and `a(b)`.
  /// @param place the last token of the expression.
  std::size_t kernel_begin(std::size_t place, std::size_t launch) const {
    for (;;) {
      std::size_t first = place;
      std::size_t before = none;
      if (is(place, ")")) {
        first = open_of(place);
        before = previous(first);
        if (before == none || !continues(before)) return first;
      } else if (is(place, "]")) {
        before = previous(open_of(place));
      } else if (is(place, ">")) {
        before = previous(open_of_template(place));
      } else if (is_name(place)) {
        before = previous(first);
        if (before != none && is(before, "template")) {
          first = before;
          before = previous(first);
        }
        if (!tokens_.is_any(before, {"::", ".", "->"})) return first;
        first = before;
        const bool is_scope = is(before, "::");
        before = previous(before);
        if (is_scope && (before == none || !(is(before, ">") || is_name(before)))) return first;
      }
      if (before == none) fail(launch, "no kernel stands before <<<");
      place = before;
    }
  }

  bool is_name(std::size_t place) const { return tokens_.is_word(place) && !is_keyword(place); }

  /// Words that may stand before an expression without being a part of it.
  bool is_keyword(std::size_t place) const {
    return tokens_.is_any(place, {"return", "else", "do", "if", "while", "for", "switch", "case", "throw", "constexpr",
                                  "co_yield", "co_return", "co_await", "sizeof"});
  }

  /// Is `(...)` behind this token a call, so that the token belongs to the expression?
  bool continues(std::size_t place) const {
    if (!is(place, ")")) return is_name(place) || tokens_.is_any(place, {"]", ">"});
    const std::size_t head = previous(open_of(place));  // if (x) (*kernel)<<<...
    return head == none || !is_keyword(head);
  }

  /// The `>`s that stand here, with or without blanks between them.
  std::vector<std::size_t> closing_row(std::size_t place) const {
    std::vector<std::size_t> row;
    for (; place != none && is(place, ">"); place = next(place)) row.push_back(place);
    return row;
  }

  /// The >>> that ends a launch's configuration. Of a longer row, as in `<<<1, size<T>>>>(x)`,
  /// template arguments take the first ones.
  Brackets configuration_end(std::size_t begin) const {
    std::size_t templates = 0;  // '<' behind a name: template arguments, or a comparison
    Brackets doubtful = {none, none};
    for (std::size_t i = begin; i < tokens_.size() && !is_border(i); ++i) {
      if (tokens_.opens(i)) {
        i = close_of(i);
      } else if (tokens_.closes(i) || is(i, ";")) {
        break;
      } else if (is(i, "<") && is(i + 1, "<")) {
        if (is(i + 2, "<")) break;
        ++i;
      } else if (opens_template(i)) {
        ++templates;
      } else if (is(i, ">")) {
        const std::vector<std::size_t> row = closing_row(i);
        const std::size_t length = row.size();
        if (length >= 3) {
          const Brackets closing = {row[length - 3], row[length - 1]};
          if (templates < length && length - 3 <= templates) return closing;
          // All of them may end templates, or all be behind comparisons: what follows decides.
          if (templates >= length && doubtful.first == none) doubtful = closing;
        }
        templates -= std::min(templates, length);
        i = row.back();
      }
    }
    return doubtful;
  }

  /// How a kernel takes its parameters.
  enum class Passing { value, reference, pointer };

  std::vector<Passing> parameters_of(Range kernel) const {
    for (const DeviceFunction& function : functions_) {
      if (function.is_kernel && is_named(kernel, function.name)) return parameters_in(function.parameters);
    }
    return {};
  }

  /// What names the launch's kernel, if that is one function alone, which is called with as many
  /// arguments as it takes, or a pointer: the address then tells their types. Else empty.
  std::string address_of_kernel(const Launch& launch) const {
    if (!preprocessed_) return "";
    if (is_pointer(launch.kernel)) return flat(launch.kernel);
    for (std::size_t i = launch.kernel.first; i < launch.kernel.end; ++i) {
      const TokenKind kind = tokens_[i].kind;
      if (kind != TokenKind::space && !is(i, "::") && !is_name(i)) return "";
    }
    const DeviceFunction* only = nullptr;
    for (const DeviceFunction& function : functions_) {
      if (!is_named(launch.kernel, function.name)) continue;
      if (only != nullptr) return "";
      only = &function;
    }
    if (only == nullptr || !only->is_kernel || only->is_template || is_overloaded(*only)) return "";
    const Range range = only->parameters;
    if (tokens_.contains(range, "=") || expands_pack(range) ||
        parameters_in(range).size() != count_arguments(launch.arguments))
      return "";
    std::string name = flat(launch.kernel);
    if (name != only->name || !has_function_in_headers(tokens_, name)) return name;
    // sync(), or std::fill(), may be there, too.
    if (!is_outside(only->name_at) || is_hidden(*only)) return uses_namespace() ? "" : name;
    return "static_cast<void (*)(" + flat(range) + ")>(::" + name + ")";
  }

  /// Is it an expression, in which no name is that of a kernel or of a template?
  bool is_pointer(Range kernel) const {
    for (std::size_t i = kernel.first; i < kernel.end; ++i) {
      if (is(i, "<")) return false;
      if (!is_name(i)) continue;
      for (std::size_t j = 0; j < tokens_.size(); ++j) {
        if (is(j, "__global__") && declares(j, tokens_[i].text)) return false;
      }
    }
    return true;
  }

  /// Is a function of that name in the declaration that goes on here?
  bool declares(std::size_t place, std::string_view name) const {
    for (; place != none && !tokens_.is_any(place, {";", "{", "}"}); place = next(place)) {
      if (is(place, name)) return true;
    }
    return false;
  }

  /// May something else of the name stand before the kernel, such as a parameter?
  bool is_hidden(const DeviceFunction& kernel) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (i == kernel.name_at || !is(i, kernel.name)) continue;
      const std::size_t behind = next(i);
      if (behind == none || !(is(behind, "(") || (is(behind, "<") && is(behind + 1, "<")))) return true;
    }
    return false;
  }

  /// May a name be that of another namespace?
  bool uses_namespace() const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "using") && !is(next(next(i)), "=")) return true;
    }
    return false;
  }

  /// Is the token in no namespace and no class?
  bool is_outside(std::size_t place) const {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < place; ++i) {
      if (is(i, "{")) ++depth;
      if (is(i, "}") && depth > 0) --depth;
    }
    return depth == 0;
  }

  /// Is there another declaration of the name, that is none of a kernel?
  bool is_overloaded(const DeviceFunction& kernel) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (i == kernel.name_at || !is(i, kernel.name) || next(i) == none || !is(next(i), "(")) continue;
      std::size_t before = previous(i);
      if (before == none || !(is_name(before) || tokens_.is_any(before, {"*", "&", ">"}))) continue;
      while (before != none && !tokens_.is_any(before, {"__global__", ";", "}", "{"})) {
        before = previous(before);
      }
      if (before == none || !is(before, "__global__")) return true;
    }
    return false;
  }

  bool expands_pack(Range range) const {
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, "...") || (is(i, ".") && is(i + 1, "."))) return true;
    }
    return false;
  }

  /// One more than there are commas; those between template arguments count, too.
  std::size_t count_arguments(Range arguments) const {
    std::size_t count = 1;
    for (std::size_t i = arguments.first; i < arguments.end; ++i) {
      if (tokens_.opens(i)) i = close_of(i);
      if (is(i, ",")) ++count;
    }
    return count;
  }

  std::vector<Passing> parameters_in(Range range) const {
    std::vector<Passing> parameters(1, Passing::value);
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, "(") && next(i) != none && is(next(i), "&")) parameters.back() = Passing::reference;
      if (is(i, "[") && parameters.back() == Passing::value) parameters.back() = Passing::pointer;
      if (tokens_.opens(i)) i = close_of(i);
      if (opens_template(i)) i = close_of_template(i, range.end);
      if (is(i, "*")) parameters.back() = Passing::pointer;
      if (is(i, "&") && !is(i - 1, "&") && !is(i + 1, "&")) parameters.back() = Passing::reference;
      if (is(i, ",")) parameters.push_back(Passing::value);
    }
    return parameters;
  }

  /// Is this the name in `space::name<T>`?
  bool is_named(Range kernel, std::string_view name) const {
    std::size_t last = kernel.end - 1;
    if (is(last, ">")) last = previous(open_of_template(last));
    return last != none && tokens_[last].is(name);
  }

  /// Where a kernel takes `int& sum`, the launch hands on the variable itself; where it takes a
  /// pointer, 0 is one.
  void pass_arguments(const Launch& launch) {
    const std::vector<Passing> parameters = parameters_of(launch.kernel);
    const bool is_typed = !address_of_kernel(launch).empty();
    std::size_t number = 0;
    std::size_t first = launch.arguments.first;
    for (std::size_t i = first; i <= launch.arguments.end && number < parameters.size(); ++i) {
      if (i < launch.arguments.end && !is(i, ",")) {
        if (tokens_.opens(i)) i = close_of(i);
        continue;
      }
      const Passing passing = parameters[number++];
      if (passing == Passing::reference && !is_typed) {
        with_references_.insert(launch.kernel.first);
        inserted_[first] += "::cuda_on_cpu::by_reference(";
        inserted_[i] = ")" + inserted_[i];
      } else if (passing == Passing::reference && is(next(first - 1), "{")) {  // for the one that is held
        inserted_[first] += "{";
        inserted_[i] = "}" + inserted_[i];
      } else if (passing == Passing::pointer && is_zero({first, i})) {
        null_pointers_.insert(next(first - 1));
      }
      first = i + 1;
    }
  }

  bool is_zero(Range range) const {
    const std::size_t only = next(range.first - 1);
    return only != none && tokens_[only].text == "0" && next(only) == range.end;
  }

  // ------------------------------------------------------------------------------- shared memory

  /// @param place of `__shared__`.
  void find_shared(std::size_t place, bool outside) {
    const std::size_t first = declaration_begin(place);
    std::size_t end = first;
    Range definition = {first, first};
    for (; end < tokens_.size() && !is_border(end) && !is(end, ";"); ++end) {
      if (is(end, "{") && definition.end == first && type_keyword(first, end) != none) {
        definition = {type_keyword(first, end), close_of(end) + 1};
      } else if (is(end, "=") || is(end, "{")) {
        fail(end, "shared memory cannot be initialized where it is declared; its type needs a name");
      }
      if (tokens_.opens(end)) end = close_of(end);
    }
    if (end == tokens_.size()) fail(place, "the declaration of shared memory has no end");
    names_.clear();
    const std::string tag = outside ? "cuda_on_cpu_shared_" + std::to_string(place) : "";
    std::string text = shared_text(place, {first, end}, definition, outside ? tag + "{}" : "[] {}");
    const std::string type = definition.end > first ? definition_text(definition) + "; " : "";
    if (outside) {
      declare_in_functions(end, text + ";");
      text = "struct " + tag + " {}";
    }
    replacements_[first] = {
        end, [=, this] {
          return type + text + line_breaks({first, definition.first}) + line_breaks({definition.end, end});
        }};
  }

  /// The struct, class, union or enum whose brace this is.
  std::size_t type_keyword(std::size_t first, std::size_t brace) const {
    for (std::size_t i = first; i < brace; ++i) {
      if (tokens_.is_any(i, {"struct", "class", "union", "enum"})) return i;
    }
    return none;
  }

  /// `struct A`, or a name of our own for a type that has none.
  std::string defined_type(Range definition) const {
    const std::size_t name = next(definition.first);
    if (is_name(name)) return std::string(tokens_[name].text);
    return "cuda_on_cpu_type_" + std::to_string(definition.first);
  }

  std::string definition_text(Range definition) const {
    const std::string keyword(tokens_[definition.first].text);
    const bool is_named = is_name(next(definition.first));
    return keyword + (is_named ? "" : " " + defined_type(definition)) + emit({definition.first + 1, definition.end});
  }

  /// Shared memory may be declared outside of functions, where it has no place yet. So each
  /// function that names it declares it.
  void declare_in_functions(std::size_t place, const std::string& declaration) {
    for (const DeviceFunction& function : functions_) {
      if (function.body.first > place && uses_shared(function)) inserted_[function.body.first] += " " + declaration;
    }
  }

  bool uses_shared(const DeviceFunction& function) const {
    bool uses = false;
    for (const std::string& name : names_) {
      if (tokens_.contains(function.parameters, name)) return false;
      for (std::size_t i = function.body.first; i < function.body.end; ++i) {
        if (!is(i, name)) continue;
        const std::size_t before = previous(i);
        if (before == none || tokens_.is_any(before, {".", "->", "::"})) continue;
        if (is_name(before)) return false;  // a variable of the function's own
        uses = true;
      }
    }
    return uses;
  }

  /// What may stand before `__shared__`: extern, static, an alignment, an attribute, the type.
  std::size_t declaration_begin(std::size_t place) const {
    for (std::size_t before = previous(place); before != none; before = previous(place)) {
      if (is(before, "]")) {
        before = open_of(before);
      } else if (is(before, ")")) {
        before = previous(open_of(before));
        if (before == none || !(is_alignment(before) || is_type_of(before))) break;
      } else if (is(before, ">")) {
        before = open_of_template(before);
      } else if (!is_name(before) && !is(before, "::")) {
        break;
      }
      place = before;
    }
    return place;
  }

  bool is_alignment(std::size_t place) const {
    return tokens_.is_any(place, {"alignas", "__align__", "__builtin_align__", "__attribute__"});
  }

  bool is_type_of(std::size_t place) const { return tokens_.is_any(place, {"decltype", "__typeof__"}); }

  /// A token of a declaration, or several in brackets.
  struct Piece {
    std::string text;
    bool is_word;
  };

  /// `float* const` and so on: blanks only where two words would become one.
  static std::string join(const std::vector<Piece>& pieces, std::size_t first, std::size_t end) {
    std::string text;
    for (std::size_t i = first; i < end; ++i) {
      const bool needs_blank = i > first && pieces[i].is_word && pieces[i - 1].text != "::";
      text += (needs_blank ? " " : "") + pieces[i].text;
    }
    return text;
  }

  /// @param definition of a type in it, or nothing.
  /// @param tag an expression whose type tells the variable from others.
  std::string shared_text(std::size_t place, Range range, Range definition, const std::string& tag) {
    std::string attributes;
    std::string alignment;
    bool is_dynamic = false;
    std::vector<Piece> pieces;
    std::string base;  // the type that all variables of the declaration have in common
    std::string text;
    const auto end_variable = [&] {
      text += (text.empty() ? "" : "; ") + attributes + variable(place, pieces, base, alignment, is_dynamic, tag);
      pieces.clear();
    };
    for (std::size_t i = range.first; i < range.end; ++i) {
      const std::size_t first = i;
      if (i == definition.first && definition.end > definition.first) {
        pieces.push_back({defined_type(definition), true});
        i = definition.end - 1;
      } else if (is_alignment(i)) {
        i = next(i);
        if (i == none || !is(i, "(")) fail(first, "an alignment needs its parentheses");
        const std::size_t open = std::exchange(i, close_of(i));
        alignment = aligned_to(first, {open + 1, i}, alignment);
      } else if (is(i, "[") && is(i + 1, "[")) {
        i = close_of(i);
        attributes += flat({first, i + 1}) + " ";
      } else if (is(i, "extern")) {
        is_dynamic = true;
      } else if (is(i, ",")) {
        end_variable();
      } else if (tokens_[i].kind != TokenKind::space && !is(i, "__shared__") && !is(i, "static")) {
        if (is(i, "(") && !is_type_of(previous(i))) {
          fail(i, "this declaration of shared memory is too involved; give its type a name");
        }
        if (is(i, "<")) i = close_of_template(i, range.end);
        if (tokens_.opens(i)) i = close_of(i);
        pieces.push_back({flat({first, i + 1}), tokens_[first].kind == TokenKind::word});
      }
    }
    end_variable();
    return text;
  }

  /// `, 16` of `alignas(16)` and `__attribute__((aligned(16)))`; of another attribute, what was
  /// there before.
  std::string aligned_to(std::size_t word, Range range, const std::string& before) const {
    if (!is(word, "__attribute__")) return ", " + flat(range);
    for (std::size_t i = range.first; i < range.end; ++i) {
      if (is(i, "aligned") || is(i, "__aligned__")) {
        const std::size_t open = next(i);
        if (is(open, "(")) return ", " + flat({open + 1, close_of(open)});
      }
    }
    return before;
  }

  /// Translates `float tile[32]`, or behind a comma `*other`.
  /// @param base the type; found in the first variable's pieces.
  std::string variable(std::size_t place, const std::vector<Piece>& pieces, std::string& base,
                       const std::string& alignment, bool is_dynamic, const std::string& tag) {
    std::size_t array = pieces.size();
    while (array > 0 && pieces[array - 1].text.starts_with('[')) --array;
    const std::size_t name = array - 1;
    if (array == 0 || !pieces[name].is_word || (name == 0 && base.empty())) {
      fail(place, "a type and a name are expected behind __shared__");
    }
    std::size_t pointer = 0;
    if (base.empty()) {
      while (pointer < name && pieces[pointer].text != "*") ++pointer;
      base = join(pieces, 0, pointer);
    }
    const std::string type = base + join(pieces, pointer, name);
    const std::string& identifier = pieces[name].text;
    names_.push_back(identifier);
    if (!is_dynamic) {
      return "auto& " + identifier + " = ::cuda_on_cpu::shared<" + type + join(pieces, array, pieces.size()) + ">(" +
             tag + ", \"" + identifier + "\"" + alignment + ")";
    }
    if (array == pieces.size()) fail(place, "extern __shared__ must declare an array");
    const std::string extents = join(pieces, array + 1, pieces.size());
    // nvcc takes one type a name, and so do compilers, of what is nowhere.
    const std::string declared = "extern " + type + " cuda_on_cpu_extern_" + identifier + "[]" + extents + "; ";
    return (preprocessed_ ? declared : "") + (extents.empty() ? type : "auto") + "* const " + identifier +
           " = ::cuda_on_cpu::dynamic_shared<" + type + extents + ">(\"" + identifier + "\")";
  }

  // ------------------------------------------------------------------------------------- writing

  /// The translation of a range; every line break of it is kept.
  std::string emit(Range range) const {
    std::string text;
    for (std::size_t i = range.first; i < range.end; ++i) {
      const Token& token = tokens_[i];
      if (const auto inserted = inserted_.find(i); inserted != inserted_.end()) text += inserted->second;
      if (const auto found = replacements_.find(i); found != replacements_.end()) {
        if (text.ends_with(':')) text += ' ';  // or ::stagewise would begin with three of them
        text += found->second.text();
        i = found->second.end - 1;
      } else if (token.kind == TokenKind::directive) {
        text += (is_about_device_code(token.text) ? "//" : "") + std::string(token.text);
      } else if (token.is("_Pragma") && is(i + 1, "(") && is_unroll(tokens_[i + 2].text)) {
        i += 3;
      } else if (token.kind == TokenKind::word) {
        text += word_text(i);
      } else if (null_pointers_.contains(i)) {
        text += "nullptr";
      } else {
        text += token.text;
      }
    }
    return text;
  }

  /// Words of nvcc that a compiler knows by another name, or does not take twice.
  std::string word_text(std::size_t place) const {
    const Token& token = tokens_[place];
    const std::size_t before = previous(place);
    if (token.is("__noinline__") && !tokens_.is_any(before, {"(", "::"})) {
      return "__attribute__((noinline))";
    }
    if (own_atomics_.contains(place)) return std::string(token.text) + "_of_old_devices";
    if (token.is("__forceinline__") && is_inline_anyway(place)) return "__attribute__((always_inline))";
    if ((token.is("NULL") || token.is("__null")) && is_argument_of_launch(place)) return "nullptr";
    if (is_value(place)) {
      const std::string value = function_value(token.text);
      if (!value.empty()) return (before != none && is(before, "::") ? "" : "::") + value;
    }
    return std::string(token.text);
  }

  /// Is it a name of the runtime that stands for itself, neither called nor declared nor of another
  /// scope?
  bool is_value(std::size_t place) const {
    const std::size_t behind = next(place);
    if (!tokens_[place].text.starts_with("cuda") || behind == none || tokens_.is_any(behind, {"(", "<", "::"}))
      return false;
    std::size_t before = previous(place);
    if (before != none && is(before, "::")) {
      before = previous(before);
      if (tokens_.is_any(before, {">", "using"})) return false;
    }
    return before == none || !(is_name(before) || tokens_.is_any(before, {".", "->"}));
  }

  /// Is the whole argument this word? A pointer that is passed on by its type must be none of an
  /// integer.
  bool is_argument_of_launch(std::size_t place) const {
    const std::size_t before = previous(place);
    const std::size_t behind = next(place);
    if (!tokens_.is_any(before, {"(", ","}) || !tokens_.is_any(behind, {")", ","})) return false;
    return std::any_of(launches_.begin(), launches_.end(), [&](const auto& launch) {
      return launch.second.arguments.first <= place && place < launch.second.arguments.end;
    });
  }

  /// Does another word of the declaration say "inline"?
  bool is_inline_anyway(std::size_t place) const {
    const auto is_inline = [&](std::size_t i) { return tokens_.is_any(i, {"inline", "__inline__", "__inline"}); };
    for (std::size_t i = previous(place); i != none && is_name(i); i = previous(i)) {
      if (is_inline(i)) return true;
    }
    for (std::size_t i = next(place); i != none && is_name(i); i = next(i)) {
      if (is_inline(i)) return true;
    }
    return false;
  }

  /// The same on one line and without comments.
  std::string flat(Range range) const {
    std::string text;
    for (std::size_t i = range.first; i < range.end; ++i) {
      const Token& token = tokens_[i];
      if (i != range.first && launches_.contains(i)) {
        fail(i, "a launch within the expression that names a kernel is too involved");
      }
      text += token.kind == TokenKind::space ? " " : token.text;
    }
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
    return text;
  }

  /// The blanks of a range that hold line breaks, so that they can stand behind what replaces it.
  std::string line_breaks(Range range) const {
    std::string text;
    for (std::size_t i = range.first; i < range.end; ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::space && token.text.find('\n') != std::string_view::npos) {
        text += token.text;
      }
    }
    return text;
  }

  /// The lanes read before the first of them stores, as if in lockstep.
  std::string store_text(const VolatileStore& store) const {
    const std::string target = flat(store.target);
    std::string value = emit(store.value);
    if (!store.operation.empty()) value = target + " " + store.operation + " (" + value + ")";
    return "::cuda_on_cpu::store_in_lockstep(" + target + line_breaks(store.target) + ", [&] { return " + value +
           "; })";
  }

  std::string launch_text(const Launch& launch) const {
    const std::string kernel = flat(launch.kernel);
    const bool uses_this = tokens_.contains(launch.kernel, "this");
    const bool has_arguments = next(launch.arguments.first - 1) != launch.arguments.end;
    const bool has_references = with_references_.contains(launch.kernel.first);
    const std::string address = has_arguments ? address_of_kernel(launch) : "";
    const auto behind = inserted_.find(launch.arguments.end);
    return "::cuda_on_cpu::" + std::string(is_bounded(launch.kernel) ? "Bounded" : "") + "Launch(" + in_quotes(kernel) +
           ", {" + line_breaks({launch.kernel.first, launch.configuration.first}) + emit(launch.configuration) + "})" +
           (address.empty() ? "(" : ".of(" + address + ", ") + "[=" + (uses_this ? ", this" : "") +
           "](auto... cuda_on_cpu_arguments) { " + kernel +
           (has_references ? "(::cuda_on_cpu::passed(cuda_on_cpu_arguments)...); }" : "(cuda_on_cpu_arguments...); }") +
           (!address.empty() ? ").with("
            : has_arguments  ? ", "
                             : "") +
           line_breaks({launch.configuration.end, launch.arguments.first}) + emit(launch.arguments) +
           (behind != inserted_.end() ? behind->second : "") + ")";
  }

  static bool is_unroll(std::string_view text) {
    return text.starts_with("\"unroll") || text.starts_with("\"nounroll");
  }

  /// Pragmas of nvcc: loops need not be unrolled here, and a C++ compiler would warn.
  static bool is_about_device_code(std::string_view directive) {
    const auto word = [&] {
      directive.remove_prefix(std::min(directive.find_first_not_of("# \t"), directive.size()));
      const std::string_view first = directive.substr(0, directive.find_first_of(" \t(\r"));
      directive.remove_prefix(first.size());
      return first;
    };
    if (word() != "pragma") return false;
    const std::string_view about = word();
    return about == "unroll" || about == "nounroll" || about.starts_with("nv_");
  }

  std::string file_;
  Tokens tokens_;
  std::map<std::size_t, Launch> launches_;           ///< by the token that they begin with
  std::map<std::size_t, Replacement> replacements_;  ///< by the token that they begin with
  std::vector<DeviceFunction> functions_;
  std::map<std::size_t, std::string> inserted_;  ///< what stands before a token, on its line
  std::set<std::size_t> with_references_;        ///< launches that pass by_reference()
  std::set<std::size_t> null_pointers_;          ///< the 0 that a kernel takes as a pointer
  std::set<std::string_view> bounded_;           ///< the kernels that have __launch_bounds__
  std::set<std::size_t> own_atomics_;            ///< the names of functions that the runtime has, too
  std::vector<std::string> names_;               ///< the variables of the declaration that is being translated
  bool preprocessed_;
};

}  // namespace

std::string translate(std::string_view text, const std::string& file) {
  return Translator(text, file, false).translate();
}

std::string translate_preprocessed(std::string_view text, const std::string& file) {
  return Translator(text, file, true).translate();
}

}  // namespace cuda_on_cpu
