#include <algorithm>
#include <cctype>

#include "finders.hpp"

namespace cuda_on_cpu {
namespace {

/// Walks over a file's tokens without looking at spaces.
class Finder {
 public:
  explicit Finder(const Tokens& tokens) : tokens_(tokens) {}

  std::vector<DeviceFunction> find() {
    bool in_define = false;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_.is_border(i)) in_define = tokens_[i].kind == TokenKind::define;
      if (in_define || !tokens_.is_any(i, {"__global__", "__device__"})) continue;
      DeviceFunction function;
      const std::size_t end = read(i, function);
      if (function.body.first > 0) found_.push_back(function);
      i = std::max(i, end);
    }
    return std::move(found_);
  }

 private:
  /// The first token of the declaration that this one belongs to.
  std::size_t begin_of(std::size_t place) const {
    std::size_t depth = 0;
    while (place > 0) {
      const Token& before = tokens_[place - 1];
      if (before.is(")") || before.is("]")) ++depth;
      if (before.is("(") || before.is("[")) {
        if (depth == 0) break;
        --depth;
      }
      if (tokens_.is_border(place - 1) || before.kind == TokenKind::directive ||
          tokens_.is_any(place - 1, {";", "}", "{"})) {
        break;
      }
      --place;
    }
    return place;
  }

  /// Reads the declaration around a qualifier. @return the last token that has been read.
  std::size_t read(std::size_t qualifier, DeviceFunction& function) const {
    std::size_t name = tokens_.size();
    std::size_t templates = 0;
    std::size_t i = begin_of(qualifier);
    for (; i < tokens_.size() && !tokens_.is_border(i); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::space) continue;
      if (token.is("__global__")) function.is_kernel = true;
      if (token.is("__host__")) function.is_host = true;
      if (token.is("template")) function.is_template = true;
      if (token.is("<")) ++templates;
      if (token.is(">") && templates > 0) --templates;
      if (token.is("(") && i > qualifier && name < tokens_.size() && is_function_name(name) && templates == 0) {
        break;
      }
      if (token.is("(") || token.is("[")) {
        const std::size_t close = tokens_.close_of(i);
        if (name < tokens_.size() && tokens_[name].is("__launch_bounds__")) function.bound = first_argument(i, close);
        i = close;
      } else if (token.is(";") || token.is("{") || token.is("}") ||
                 (token.is("=") && templates == 0 && i > qualifier)) {
        return i;  // a variable
      }
      name = i;
    }
    if (i >= tokens_.size() || tokens_.is_border(i)) return i;
    function.name = tokens_[name].text;
    function.name_at = name;
    const std::size_t close = tokens_.close_of(i);
    function.parameters = {i + 1, close};
    return read_body(close, function);
  }

  /// Reads what comes behind the parameters: const, noexcept, a list of initializers, the body.
  std::size_t read_body(std::size_t place, DeviceFunction& function) const {
    for (std::size_t i = place; i < tokens_.size() && !tokens_.is_border(i); i = tokens_.next(i)) {
      if (tokens_.is_any(i, {";", "="})) return i;
      if (tokens_.is(i, "{")) {
        const std::size_t close = tokens_.close_of(i);
        if (close < tokens_.size()) function.body = {i + 1, close};
        return i;  // there may be lambdas inside
      }
      if (tokens_.opens(i)) i = tokens_.close_of(i);
    }
    return place;
  }

  bool is_function_name(std::size_t place) const {
    if (tokens_.is_any(place, {">", "]"})) return true;  // a specialization
    const TokenKind kind = tokens_[place].kind;
    return (kind == TokenKind::word || kind == TokenKind::symbol) &&
           !tokens_.is_any(place, {"__launch_bounds__", "__attribute__", "__align__", "__builtin_align__", "alignas",
                                   "__declspec", "decltype", "__cluster_dims__", "noexcept", ",", "*", "&", ")"});
  }

  Range first_argument(std::size_t open, std::size_t close) const {
    for (std::size_t i = open + 1; i < close; ++i) {
      if (tokens_.opens(i)) i = tokens_.close_of(i);
      if (tokens_.is(i, ",") && !is_within_template(open + 1, i)) return {open + 1, i};
    }
    return {open + 1, close};
  }

  bool is_within_template(std::size_t first, std::size_t place) const {
    std::size_t depth = 0;
    for (std::size_t i = first; i < place; ++i) {
      if (tokens_.is(i, "<")) ++depth;
      if (tokens_.is(i, ">") && depth > 0) --depth;
    }
    return depth > 0;
  }

  const Tokens& tokens_;
  std::vector<DeviceFunction> found_;
};

bool starts_with_any(std::string_view word, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return word.starts_with(beginning); });
}

/// What is wrong with a function or type of textures and surfaces, judged by its name and by what follows it.
std::string_view fault_of_texture(std::string_view word, const Token& follower) {
  if (((word == "texture" || word == "surface") && follower.is("<")) ||
      starts_with_any(word, {"cudaBindTexture", "cudaBindSurface", "cudaUnbindTexture"})) {
    return "texture references are gone since CUDA 12; create a texture object by cudaCreateTextureObject()";
  }
  if ((follower.is("(") || follower.is("<")) &&
      starts_with_any(
          word, {"tex1DLayered", "tex2DLayered", "tex1DLod", "tex2DLod", "tex3DLod", "tex1DGrad", "tex2DGrad",
                 "tex3DGrad", "tex2Dgather", "texCubemap", "surf1Dread", "surf1Dwrite", "surf3Dread", "surf3Dwrite",
                 "surf1DLayered", "surf2DLayered", "surfCubemap", "cudaMallocMipmapped"})) {
    return "of textures and surfaces, CUDA on the CPU has tex1Dfetch(), tex1D(), tex2D(), tex3D(), surf2Dread() and "
           "surf2Dwrite(); this needs a GPU";
  }
  return "";
}

/// Does the name stand for clusters of thread blocks, of which the runtime has none?
bool is_of_clusters(const Tokens& tokens, std::size_t place) {
  if (tokens.is(place, "__cluster_dims__")) return true;
  return tokens.is_any(place, {"this_cluster", "cluster_group"}) && tokens.is(tokens.previous(place), "::");
}

bool is_driver_api(std::string_view word, const Token& follower) {
  if (word.size() < 4 || follower.is("::")) return false;
  if (starts_with_any(word, {"CUresult", "CUdevice", "CUcontext", "CUmodule", "CUfunction", "CUdeviceptr"}))
    return true;
  return follower.is("(") &&
         starts_with_any(word, {"cuInit", "cuDevice", "cuCtx", "cuModule", "cuMem", "cuLaunch", "cuFunc", "cuStream",
                                "cuEvent", "cuLink", "cuArray", "cuGetError", "cuDriverGet", "cuOccupancy"});
}

/// The token behind this one that is no space, or the last one.
const Token& follower_of(const Tokens& tokens, std::size_t place) {
  return tokens[std::min(tokens.next(place), tokens.size() - 1)];
}

/// The section for the variables of a declaration; empty if it declares something else, or they are to stay.
std::string section_of(const Tokens& tokens, std::size_t first) {
  bool is_array = false;
  bool is_simple = true;  // zero if it is not initialized
  bool is_managed = false;
  bool is_initialized = false;
  for (std::size_t i = first; i < tokens.size() && !tokens.is(i, ";"); ++i) {
    if (tokens.is_any(i, {"template", "const", "constexpr", "extern", "inline", "using", "__global__", "__host__",
                          "__shared__", "::"})) {
      return "";
    }
    // A type is defined, not only named.
    if (tokens.is_any(i, {"struct", "class", "enum", "union"}) && !tokens.is_word(tokens.next(tokens.next(i))) &&
        !tokens.is(tokens.next(tokens.next(i)), "*")) {
      return "";
    }
    is_managed = is_managed || tokens.is(i, "__managed__");
    is_initialized = is_initialized || tokens.is_any(i, {"=", "{"});
    if (is_initialized && !tokens.is(i, ",")) continue;
    is_array = is_array || tokens.is(i, "[");
    if (tokens.is(i, "(") && !tokens.is_any(tokens.previous(i), {"__align__", "alignas", "__attribute__"})) return "";
    if (tokens.opens(i)) i = tokens.close_of(i);
  }
  for (std::size_t i = first; i < tokens.size() && is_simple && !tokens.is(i, "["); ++i) {
    if (!tokens.is_word(i) || tokens.is(tokens.next(i), "[")) continue;
    is_simple = tokens.is_any(i, {"__device__", "__constant__", "static", "unsigned", "signed", "char", "short", "int",
                                  "long", "float", "double", "bool", "volatile"});
  }
  if (is_managed) return ".data.cuda_on_cpu_managed";
  return is_array && is_simple && !is_initialized ? ".bss.cuda_on_cpu_device" : ".data.cuda_on_cpu_device";
}

void refuse_in_device_code(const Tokens& tokens, const DeviceFunction& function,
                           const std::set<std::size_t>& known_ptx) {
  const std::string kind = function.is_kernel ? "kernel" : "device function";
  for (std::size_t i = function.body.first; i < function.body.end; ++i) {
    const Token& token = tokens[i];
    const bool is_ptx = token.is("asm") || token.is("__asm__") || token.is("__asm");
    if (is_ptx && !known_ptx.contains(i)) {
      refuse(token, "inline PTX (" + std::string(token.text) + ") in the " + kind + " '" + std::string(function.name) +
                        "' is for a GPU's processor; of PTX, CUDA on the CPU knows mma.sync and reading "
                        "special registers, so write this in C++");
    }
  }
}

}  // namespace

std::vector<DeviceFunction> find_device_functions(const Tokens& tokens) { return Finder(tokens).find(); }

std::map<std::size_t, std::string> find_device_variables(const Tokens& tokens) {
  std::map<std::size_t, std::string> found;
  std::size_t first = 0;  // of a declaration
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool opens_scope =
        tokens.is(i, "{") && (tokens.contains({first, i}, "namespace") || tokens.contains({first, i}, "extern"));
    if (opens_scope || tokens[i].kind == TokenKind::directive || tokens.is_any(i, {";", "}"})) {
      first = i + 1;
    } else if (tokens.opens(i)) {  // a body, a class, parameters, an initializer
      const std::size_t close = tokens.close_of(i);
      if (tokens.is(i, "{") && !tokens.is(std::min(tokens.next(close), tokens.size()), ";")) first = close + 1;
      i = close;
    } else if (tokens.is_any(i, {"__device__", "__constant__", "__managed__"})) {
      const std::string section = section_of(tokens, first);
      if (section.empty()) continue;
      found.emplace(i, section);
      while (i < tokens.size() && !tokens.is(i, ";")) i = tokens.opens(i) ? tokens.close_of(i) + 1 : i + 1;
      first = i + 1;
    }
  }
  return found;
}

bool has_function_in_headers(const Tokens& tokens, std::string_view name) {
  const auto is_of_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::directive) continue;
    const std::string_view text = token.text;
    for (std::size_t i = text.find(name); i < text.size(); i = text.find(name, i + 1)) {
      const std::size_t end = text.find_first_not_of(" \t\n", i + name.size());
      if ((i == 0 || !is_of_word(text[i - 1])) && end < text.size() && text[end] == '(') return true;
    }
  }
  return false;
}

void refuse_what_is_missing(const Tokens& tokens, const std::vector<DeviceFunction>& functions,
                            const std::set<std::size_t>& known_ptx) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::word) continue;
    const std::string word(tokens[i].text);
    if (const std::string_view fault = fault_of_texture(word, follower_of(tokens, i)); !fault.empty())
      refuse(tokens[i], "'" + word + "': " + std::string(fault));
    if (is_of_clusters(tokens, i))
      refuse(tokens[i], "'" + word + "' is of clusters of thread blocks, which CUDA on the CPU does not model");
    if (is_driver_api(word, follower_of(tokens, i))) {
      refuse(tokens[i], "'" + word + "' is of the driver API; CUDA on the CPU has the runtime API (cuda...) only");
    }
  }
  for (const DeviceFunction& function : functions) refuse_in_device_code(tokens, function, known_ptx);
}

}  // namespace cuda_on_cpu
