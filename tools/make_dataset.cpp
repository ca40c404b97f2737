/// @file
/// Writes a generated data set to files of a standard format, for this project's programs and for
/// others.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/program.hpp"
#include "cli/values.hpp"
#include "data/generators.hpp"
#include "io/data_sets/formats.hpp"
#include "io/file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string dataset = "digits";
  std::string format;  ///< empty: idx for images, else csv
  std::string output;
  std::optional<Index> train;
  std::optional<Index> test;
  std::uint64_t seed = generated_data_seed;
  GaussianOptions gaussian;
  std::vector<std::string> of_gaussian;  ///< those of its options that were given
};

struct Generator {
  const char* name;
  Dataset (*make)(const Options&, Index count, Purpose purpose);
  GeneratedSizes (*sizes)(const Options&);
  bool makes_images;
};

constexpr std::array<Generator, 3> generators = {{
    {"digits", [](const Options& o, Index count, Purpose p) { return make_digits(count, o.seed, p); },
     [](const Options&) { return digits_sizes; }, true},
    {"gaussian", [](const Options& o, Index count, Purpose p) { return make_gaussian(o.gaussian, count, o.seed, p); },
     [](const Options& o) { return o.gaussian.sizes(); }, false},
    {"step", [](const Options& o, Index count, Purpose p) { return make_step(count, o.seed, p); },
     [](const Options&) { return step_sizes; }, false},
}};

constexpr auto examples =
    "Written are for --format idx, with the names that MNIST's files have,\n"
    "  DIR/train-images-idx3-ubyte  DIR/train-labels-idx1-ubyte\n"
    "  DIR/t10k-images-idx3-ubyte   DIR/t10k-labels-idx1-ubyte\n"
    "so that whatever reads MNIST reads them too, and for --format csv\n"
    "  DIR/train.csv  DIR/test.csv\n"
    "with a column for every feature or pixel, x1, x2, ..., and the column label.\n"
    "Without other options they hold what --dataset means to the stages.\n\n"
    "Examples:\n"
    "  make_dataset --output my_digits\n"
    "  stage01_serial train --dataset my_digits/train-images-idx3-ubyte --format idx\n\n"
    "  make_dataset --train 60000 --test 10000 --seed 7 --output my_data/mnist\n"
    "  stage01_serial train --dataset mnist --data-dir my_data\n\n"
    "  make_dataset --dataset gaussian --features 32 --classes 3 --output my_table\n"
    "  stage01_serial train --dataset my_table/train.csv --format csv --label label\n";

const Generator& find_generator(const Options& options) {
  const auto found = std::find_if(generators.begin(), generators.end(),
                                  [&](const Generator& generator) { return generator.name == options.dataset; });
  if (found == generators.end()) {
    throw UsageError("--dataset " + excerpt(options.dataset) +
                     " is not a data set that can be generated; those are digits, gaussian and "
                     "step");
  }
  return *found;
}

std::string format_for(const Options& options, const Generator& generator) {
  if (options.format.empty()) return generator.makes_images ? "idx" : "csv";
  if (options.format != "idx" && options.format != "csv") {
    throw UsageError("--format " + excerpt(options.format) +
                     " is not a format that can be written; those are idx and csv");
  }
  if (options.format == "idx" && !generator.makes_images) {
    throw UsageError("--dataset " + excerpt(options.dataset) +
                     " has no images, and an IDX file holds nothing else; its format is csv");
  }
  return options.format;
}

/// The files of a part: images and labels, or a table.
std::vector<fs::path> files_for(const std::string& format, const fs::path& folder, bool training) {
  if (format == "csv") return {folder / (training ? "train.csv" : "test.csv")};
  fs::path images = folder / (training ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte");
  return {images, idx_labels_path(images)};
}

/// Checks, before the first file is replaced, that all can be written and are different files.
void check_files(const std::vector<fs::path>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    check_writable(files[i], "file");
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_same_file(files[i], files[j])) continue;
      throw Error("the file " + files[i].string() + " cannot be written: it is the same file as " + files[j].string());
    }
  }
}

void write_as_idx(const Dataset& dataset, const fs::path& images, const fs::path& labels) {
  write_idx(dataset, images, labels);
  std::cout << images.string() << " and " << labels.filename().string() << ": " << count_of(dataset.size(), "image")
            << " of " << dataset.sample_shape()[0] << " x " << dataset.sample_shape()[1] << " pixels\n";
}

void write_as_csv(const Dataset& dataset, const fs::path& table) {
  write_csv(dataset, table);
  std::cout << table.string() << ": " << count_of(dataset.size(), "row") << " of "
            << count_of(dataset.sample_shape().elements(), "feature") << " and a label\n";
}

int make_dataset(const Options& options) {
  const Generator& generator = find_generator(options);
  const std::string format = format_for(options, generator);
  if (options.dataset == "gaussian") {
    check(options.gaussian);
  } else {
    for (const std::string& name : options.of_gaussian) {
      note_idle("make_dataset", name, "is for --dataset gaussian");
    }
  }
  const GeneratedSizes sizes = generator.sizes(options);
  const Index train = options.train.value_or(sizes.train);
  const Index test = options.test.value_or(sizes.test);
  if (train == 0 && test == 0) {
    throw UsageError("--train 0 and --test 0 together leave nothing to write");
  }
  const fs::path folder = options.output;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error("cannot create the folder --output " + options.output + ": " + error.message());
  }
  std::vector<fs::path> all;
  for (const bool training : {true, false}) {
    if ((training ? train : test) == 0) continue;
    for (const fs::path& file : files_for(format, folder, training)) all.push_back(file);
  }
  check_files(all);
  for (const bool training : {true, false}) {
    const Index count = training ? train : test;
    if (count == 0) continue;
    const Dataset dataset = generator.make(options, count, training ? Purpose::training_data : Purpose::test_data);
    const std::vector<fs::path> files = files_for(format, folder, training);
    if (format == "idx") {
      write_as_idx(dataset, files[0], files[1]);
    } else {
      write_as_csv(dataset, files[0]);
    }
  }
  return 0;
}

void declare(CLI::App& app, Options& options) {
  constexpr Index most = 0xffffffff;  // IDX stores a count in 32 bits
  constexpr Index max_features = 1 << 24;
  constexpr Index max_classes = 65536;
  GaussianOptions& gaussian = options.gaussian;
  add_value(app, "dataset", "NAME", "what to generate: digits, gaussian, step", options.dataset,
            [&](const std::string& text) { options.dataset = parse_name(text); });
  add_value(app, "train", "N", "number of training samples; 0: write no files for them", "as the stages have them",
            [&](const std::string& text) { options.train = parse_count(text, 0, most); });
  add_value(app, "test", "N", "number of test samples; 0: write no files for them", "as the stages have them",
            [&](const std::string& text) { options.test = parse_count(text, 0, most); });
  add_value(app, "seed", "N", "the same seed gives the same samples on every machine", std::to_string(options.seed),
            [&](const std::string& text) { options.seed = parse_seed(text); });
  const auto add_of_gaussian = [&](const std::string& name, const std::string& value, const std::string& description,
                                   const std::string& default_text,
                                   const std::function<void(const std::string&)>& read) {
    add_value(app, name, value, "gaussian: " + description, default_text,
              [&options, name, read](const std::string& text) {
                read(text);
                options.of_gaussian.push_back(name);
              });
  };
  add_of_gaussian("features", "N", "features of a sample", std::to_string(gaussian.features),
                  [&](const std::string& text) { gaussian.features = parse_count(text, 1, max_features); });
  add_of_gaussian("classes", "N", "number of classes", std::to_string(gaussian.classes), [&](const std::string& text) {
    gaussian.classes = static_cast<int>(parse_count(text, 2, max_classes));
  });
  add_of_gaussian("spacing", "X", "between the means of neighbouring classes", "1",
                  [&](const std::string& text) { gaussian.spacing = parse_real(text, true); });
  add_of_gaussian("deviation", "X", "of every feature around its class's mean", "1",
                  [&](const std::string& text) { gaussian.deviation = parse_real(text, true); });
  add_value(app, "format", "NAME", "format of the files: idx, csv", "idx for images, else csv",
            [&](const std::string& text) { options.format = parse_name(text); });
  add_value(app, "output", "DIR", "folder for the files; made if it is not there", "", [&](const std::string& text) {
    options.output = parse_name(text);
  })->required();
}

}  // namespace
}  // namespace stagewise

// Declaring options throws only if a declaration is wrong, which the first run would show.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  stagewise::Options options;
  CLI::App app("Writes a generated data set to files of a standard format.", "make_dataset");
  app.footer(stagewise::examples);
  stagewise::declare(app, options);
  return stagewise::run_program(app, argc, argv, [&] { return stagewise::make_dataset(options); });
}
