#include "cli/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <utility>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// One line that ends like a sentence, without the line breaks that a library's message may have,
/// nor anything from a file or its name that could lead a terminal astray.
std::string sentence(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const bool is_ended = text.ends_with('.') || text.ends_with('?');  // also behind an ellipsis
  return escaped(text) + (is_ended ? "" : ".");
}

/// The program itself, or the command that the user got as far as.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : *commands.back();
}

/// Options, or commands, that the help shows.
std::vector<std::string> names_like(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  const auto add = [&](const auto& all) {
    for (const auto* const one : all) {
      if (!one->get_group().empty()) names.push_back(one->get_name());
    }
  };
  if (word.starts_with("-")) {
    add(app.get_options());
  } else {
    add(app.get_subcommands({}));
  }
  return names;
}

/// A better message than the library's for a word that no option and no command takes.
std::string describe(const CLI::App& app, const CLI::ExtrasError& error) {
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty()) return error.what();
  const std::string& word = words.front();
  const std::string unknown = (word.starts_with("-") ? "option " : "argument ") + in_quotes(word) + " is unknown; ";
  const std::string meant = suggestion(word.substr(0, word.find('=')), names_like(innermost(app), word));
  if (!meant.empty()) return unknown + "did you mean " + meant + "?";
  const CLI::App& command = innermost(app);
  return unknown + app.get_name() + (&command == &app ? "" : " " + command.get_name()) + " --help lists what there is";
}

/// A better message than the library's for an option with too few or too many values.
std::string describe(const CLI::ArgumentMismatch& error) {
  std::string text = error.what();
  std::string name = text.substr(0, text.find_first_of(": "));
  if (name.size() > 1 && !name.starts_with("-")) name = "--" + name;  // of a flag
  const auto says = [&](const char* part) { return text.find(part) != std::string::npos; };
  if (says(" missing")) return name + " needs a value";
  if (says("At Most 1 ")) return name + " is given more than once";
  if (says("flag override")) return name + " takes no value";
  return text;
}

/// Two columns within 80 characters: `--name VALUE`, and what it means, wrapped.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(left_column);
    label("Positionals", "Arguments");
  }

  /// The whole text.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    // The library separates some parts by two empty lines, and ends with one.
    const std::string text = Formatter::make_help(app, std::move(name), mode);
    std::string result;
    for (const char c : text) {
      if (c == '\n' && result.ends_with("\n\n")) continue;
      result += c;
    }
    while (result.ends_with("\n\n")) result.pop_back();
    return result;
  }

  /// What the program or subcommand is for.
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), page) + "\n\n";
  }

  /// A line of the list of subcommands.
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream text;
    CLI::detail::format_help(text, command->get_name(), wrapped(command->get_description(), page - left_column),
                             left_column);
    return text.str();
  }

  /// What stands for an option's value.
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }

  /// What an option means.
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string remark = option->get_required() && option->nonpositional() ? " [required]" : "";
    return wrapped(option->get_description() + remark, page - left_column);
  }

 private:
  static constexpr std::size_t page = 80;
  static constexpr std::size_t left_column = 23;
};

/// The same layout and the same -h, at the end of the list, for a program and its commands.
void set_help(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this text")->group("Options");
  for (CLI::App* const command : app.get_subcommands({})) {
    if (!command->get_group().empty()) set_help(*command);
  }
}

// A signal handler has no other place to write to. NOLINTNEXTLINE(*-non-const-global-variables)
volatile std::sig_atomic_t pipe_was_closed = 0;

void note_closed_pipe(int /*signal*/) { pipe_was_closed = 1; }

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &action, nullptr);
}

/// From now on, writing to a pipe that nobody reads fails, instead of ending the process before it
/// has saved its results. If the signal was already ignored, it still is.
void survive_closed_pipe() {
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  if (before.sa_handler == SIG_DFL) set_handler(note_closed_pipe);
}

/// Ends the process as if survive_closed_pipe() had not been called: with the signal SIGPIPE and
/// without a message. Shells report this as exit code 141.
[[noreturn]] void end_by_closed_pipe() {
  set_handler(SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(EXIT_FAILURE);  // where the signal is blocked
}

}  // namespace

int run_program(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& body,
                const ProgramHooks& hooks) {
  bool has_begun = false;
  const auto fail = [&](const std::string& text, int exit_code) {
    std::cout.flush();
    if (hooks.on_failure) {
      hooks.on_failure(sentence(text), exit_code, has_begun);
    } else {
      std::cerr << app.get_name() << ": " << sentence(text) << '\n';
    }
    return exit_code;
  };
  // If the output was redirected to a full disk, the exit code must not say success.
  const auto finish = [&](int code) {
    std::cout.flush();
    if (code == 0 && output_is_closed()) end_by_closed_pipe();
    if (output_is_closed()) return code;
    return std::cout ? code : fail("standard output could not be written to", 1);
  };
  survive_closed_pipe();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that must not grow further is an error, with a message
  try {
    if (hooks.before) hooks.before();
    for (int i = 1; i < argc; ++i) {  // the library takes this for an option without a value
      const std::string word = argv[i];
      if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
        return fail(excerpt(word.substr(0, word.size() - 1)) + " needs a value", 2);
      }
    }
    app.set_version_flag("--version", version_text(), "print the version");
    set_help(app);
    app.parse(argc, argv);
    has_begun = true;
    return finish(body());
  } catch (const OutputClosed&) {
    end_by_closed_pipe();
  } catch (const CLI::Success& request) {  // --help and --version
    return finish(app.exit(request));
  } catch (const CLI::ExtrasError& error) {
    return fail(describe(app, error), 2);
  } catch (const CLI::ArgumentMismatch& error) {
    return fail(describe(error), 2);
  } catch (const CLI::ParseError& error) {
    return fail(error.what(), 2);
  } catch (const UsageError& error) {
    return fail(error.what(), 2);
  } catch (const Error& error) {
    return fail(error.what(), 1);
  } catch (const std::bad_alloc&) {
    return fail(
        "the host has too little memory for this; where there is a network, a smaller one, a "
        "smaller "
        "--batch-size or data set needs less",
        1);
  } catch (const std::exception& error) {
    return fail(std::string("an unforeseen error ended the program: ") + error.what(), 1);
  }
}

bool output_is_closed() { return !std::cout && pipe_was_closed != 0; }

void note_idle(const std::string& program, const std::string& option, const std::string& reason) {
  std::cerr << program << ": note: " << sentence("--" + option + " has no effect here: it " + reason) << '\n';
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::size_t used = 0;
    if (!result.empty()) result += '\n';
    for (std::string word; words >> word;) {
      if (used > 0) {
        const bool fits = used + 1 + word.size() <= width;
        result += fits ? ' ' : '\n';
        used = fits ? used + 1 : 0;
      }
      result += word;
      used += word.size();
    }
  }
  return result;
}

std::string version_text() {
  return "Stagewise " STAGEWISE_VERSION " (" STAGEWISE_BUILD_TYPE " build, " STAGEWISE_COMPILER ")";
}

}  // namespace stagewise
