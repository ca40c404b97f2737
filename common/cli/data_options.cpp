#include "cli/option_table.hpp"
#include "io/data_sets/catalog.hpp"

namespace stagewise {
namespace {

const std::string data_group = "Data";
const std::string generated_group = "Generated data (gaussian)";

// Why options have no effect, for each kind of option; see Option::why_idle.

std::string idle_path(const RunOptions& options) { return options.data.format.empty() ? "is for a path" : ""; }

std::string idle_table(const RunOptions& options) {
  if (is_table(options.data)) return "";
  return "names a column of a CSV file, but " + options.data.name + " is none";
}

std::string idle_hdf5(const RunOptions& options) {
  if (is_hdf5(options.data)) return "";
  return "names a data set in an HDF5 file, but " + options.data.name + " is none";
}

std::string idle_data_folder(const RunOptions& options) {
  if (is_in_data_folder(options.data)) return "";
  return "is for data sets that are read from there, and " + options.data.name + " is " +
         (options.data.format.empty() ? "generated" : "a path");
}

std::string idle_gaussian(const RunOptions& options) {
  const bool is_gaussian = options.data.name == "gaussian" && options.data.format.empty();
  return is_gaussian ? "" : "is for --dataset gaussian";
}

/// Reads a count, or "all".
std::optional<Index> parse_limit(const std::string& text) {
  if (text == "all") return std::nullopt;
  return parse_count(text, 1);
}

}  // namespace

bool is_of_data(const Option& option) {
  return option.group == data_group || option.group == generated_group || option.name == "sample";
}

void add_data_options(OptionList& table) {
  using Set = DatasetOptions;
  const auto set = &RunOptions::data;
  const unsigned with_data = for_train | for_evaluate | for_predict;
  table.begin(data_group, with_data, Kept::freely);
  table
      .add("dataset", "NAME", list_of(dataset_names()) + ", or a path with --format", parse_name, nullptr, set,
           &Set::name)
      .default_text = "that of the checkpoint; without one, digits";
  table.add("format", "NAME", "format of the file that --dataset names: " + list_of(format_names()), parse_name,
            idle_path, set, &Set::format);
  table.begin(data_group, with_data, Kept::no);
  table.add("data-dir", "DIR", "folder that holds mnist/, ...", parse_name, idle_data_folder, set, &Set::data_dir)
      .default_text = "STAGEWISE_DATA_DIR, else datasets";
  table.begin(data_group, for_train, Kept::no);
  table.add("test-limit", "N", "use the first N test samples; --resume does not remember it", parse_limit, nullptr, set,
            &Set::test_limit);
  table.begin(data_group, for_evaluate | for_predict, Kept::no);
  table.add("test-limit", "N", "use the first N test samples", parse_limit, nullptr, set, &Set::test_limit);
  table.begin(data_group, with_data, Kept::of_training);
  table.add("label", "NAME", "csv: the column that holds the class", parse_name, idle_table, set, &Set::label);
  table
      .add("x", "NAME", "hdf5: the data set that holds the samples", parse_name, idle_hdf5, set, &Set::hdf5,
           &Hdf5Names::x)
      .if_absent = "x";
  table
      .add("y", "NAME", "hdf5: the data set that holds the classes", parse_name, idle_hdf5, set, &Set::hdf5,
           &Hdf5Names::y)
      .if_absent = "y";
  table.begin(data_group, for_train, Kept::of_training);
  table.add("train-limit", "N", "use the first N training samples", parse_limit, nullptr, set, &Set::train_limit);
  table.add("validation", "N", "hold out the last N training samples", count(0), nullptr, set, &Set::validation);

  using Gaussian = GaussianOptions;
  constexpr std::int64_t most_classes = 1 << 24;
  table.begin(generated_group, with_data, Kept::of_training);
  const auto add = [&](const char* name, const char* argument, const char* description, const auto& parse,
                       auto Gaussian::*member) {
    table.add(name, argument, description, parse, idle_gaussian, set, &Set::gaussian, member);
  };
  add("features", "N", "features of a sample", count(), &Gaussian::features);
  add("classes", "N", "classes", count(2, most_classes), &Gaussian::classes);
  add("samples", "N", "training samples; a fifth as many for testing", count(), &Gaussian::samples);
  add("spacing", "X", "between the means of neighbouring classes", parse_not_negative, &Gaussian::spacing);
  add("deviation", "X", "of a feature around its class's mean", parse_not_negative, &Gaussian::deviation);
}

}  // namespace stagewise
