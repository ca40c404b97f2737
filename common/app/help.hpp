/// @file
/// The layout of help texts.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace stagewise {

/// Lines of at most `width` characters, broken between words. Existing line breaks are kept.
std::string wrapped(const std::string& text, std::size_t width);

/// Two columns within 80 characters: `--name VALUE`, and what it means, wrapped.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();

  /// The whole text.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

  /// What the program or subcommand is for.
  std::string make_description(const CLI::App* app) const override;

  /// A line of the list of subcommands.
  std::string make_subcommand(const CLI::App* command) const override;

  /// What stands for an option's value.
  std::string make_option_opts(const CLI::Option* option) const override;

  /// What an option means.
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace stagewise
