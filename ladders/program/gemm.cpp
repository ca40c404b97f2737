// The subcommand gemm.

#include "ladders/gemm/gemm.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cli/text.hpp"
#include "cli/values.hpp"
#include "cuda/device.hpp"
#include "ladders/program/commands.hpp"
#include "ladders/program/product.hpp"
#include "ladders/program/references.hpp"
#include "ladders/program/runner.hpp"
#include "tensor/counts.hpp"

namespace stagewise::ladder {
namespace {

/// "C [2, 4] = 2 A [2, 3] B^T + 5 C, B [4, 3], float"
std::string describe(const GemmOptions& o) {
  const auto factor = [](double value) { return value == 1 ? "" : shortest(value) + " "; };
  std::string text = "C " + shape_text(o.m, o.n) + " = " + factor(o.alpha);
  text += o.transpose_a ? "A^T B" : "A B";
  if (o.transpose_b) text += "^T";
  if (o.beta != 0) {
    text += (o.beta < 0 ? " - " : " + ") + factor(std::abs(o.beta)) + "C";
  }
  text += ", A " + (o.transpose_a ? shape_text(o.k, o.m) : shape_text(o.m, o.k));
  text += ", B " + (o.transpose_b ? shape_text(o.n, o.k) : shape_text(o.k, o.n));
  return text + ", " + o.precision;
}

/// The standard deviation of an element of the result.
///
/// An element of A B is a sum of k products of numbers that are uniform in [-1, 1). Each product
/// has a standard deviation of 1/3, so the sum has one of sqrt(k) / 3, and C one of 1 / sqrt(3).
double deviation_of(Index k, double alpha, double beta) {
  return std::hypot(alpha * std::sqrt(static_cast<double>(k)) / 3, beta / std::sqrt(3.0));
}

void check_factor(const std::string& name, double value, const std::string& precision) {
  if (precision == "double") return;
  const auto in_float = static_cast<float>(value);
  const bool infinite = !std::isfinite(in_float);
  if (!infinite && (in_float != 0) == (value != 0)) return;
  throw UsageError("--" + name + " " + shortest(value) + " is " + (infinite ? "infinite" : "0") +
                   " in float; choose another, or --precision double");
}

/// @throws UsageError if the factors make numbers that are too large for the precision.
template <typename T>
void check_factors(const GemmOptions& o) {
  check_factor("alpha", o.alpha, o.precision);
  check_factor("beta", o.beta, o.precision);
  if (std::abs(o.alpha) * static_cast<double>(o.k) + std::abs(o.beta) >
      static_cast<double>(std::numeric_limits<T>::max()) / 4) {
    throw UsageError("--alpha " + shortest(o.alpha) + " and --beta " + shortest(o.beta) +
                     " make numbers that are too large for " + o.precision);
  }
}

/// What the rows have in common: the required accuracy of the product, and its minimum work.
/// @throws Error if the problem does not fit into memory.
template <typename T>
Row row_of(const GemmOptions& o) {
  const auto factors =
      static_cast<double>(o.m) * static_cast<double>(o.k) + static_cast<double>(o.k) * static_cast<double>(o.n);
  const auto results = static_cast<double>(o.m) * static_cast<double>(o.n);
  // Of floats, cuBLAS and the rungs with wgmma make copies in fewer bits.
  const double copies = has_cublas && std::is_same_v<T, float> ? (2 + 4) * factors : 0;
  check_memory("the product of A " + shape_text(o.m, o.k) + " and B " + shape_text(o.k, o.n) + " in " + o.precision,
               sizeof(T) * (factors + results) + (has_cublas ? ReferenceGemm::workspace_bytes : 0) + copies,
               (sizeof(T) + sizeof(double)) * (factors + results) + 2 * sizeof(T) * results);
  return {.bound = bound_of_sum<T>(static_cast<double>(o.k), deviation_of(o.k, o.alpha, o.beta)),
          .per_rounding = 8 * deviation_of(o.k, o.alpha, o.beta),
          .operations = 2 * results * static_cast<double>(o.k),
          .bytes = sizeof(T) * (factors + results * (o.beta == 0 ? 1 : 2))};
}

/// What `--cublas` stands for; of use only with that library.
[[maybe_unused]] Arithmetic arithmetic_of(const std::string& name) {
  if (name == "own") return Arithmetic::own;
  return name == "tf32" ? Arithmetic::tf32 : Arithmetic::bf16;
}

/// By how much that rounds, relative to a number. TF32 is cut off, not rounded.
[[maybe_unused]] double rounding_of(const std::string& name) {
  if (name == "own") return 0;
  return name == "tf32" ? 0x1p-10 : 0x1p-8;
}

/// The rung that has tiles to pick from.
template <typename T>
constexpr std::string_view top_rung = std::is_same_v<T, double> ? "tensor-cores" : "fitted-tiles";

/// "64x104, 16 deep, slice-k 2, split-k 3".
std::string plan_text(const shared_memory::TileInfo& tile, int split_k) {
  return std::to_string(tile.BM) + "x" + std::to_string(tile.BN) + ", " + std::to_string(tile.BK) + " deep, slice-k " +
         std::to_string(tile.slice_k) + ", split-k " + std::to_string(split_k);
}

/// The rung whose tiles are asked for.
/// @throws UsageError if it has none.
template <typename T>
const shared_memory::GemmRung<T>& rung_with_tiles(const GemmOptions& o) {
  const auto& rung = find_rung(ladder::gemm_ladder<T>(), o.rung == "all" ? top_rung<T> : o.rung);
  if (!ladder::gemm_tiles<T>(rung.name).info.empty()) return rung;
  throw UsageError("--tiles: the rung " + o.rung + " has no tiles to pick from in " + o.precision);
}

/// A row for each tile from which the rung picks.
/// @throws Error if it cannot be used.
template <typename T>
std::vector<Row> rows_of_tiles(const GemmProblem<T>& problem, const shared_memory::GemmRung<T>& rung, Row row) {
  const auto tiles = ladder::gemm_tiles<T>(rung.name).info;
  if (const Support support = rung.supports(problem); !support) {
    throw Error("the tiles of " + std::string(rung.name) + " cannot be used here: " + support.reason);
  }
  const bool vectors = shared_memory::copies_vectors(problem);
  const auto choice = shared_memory::choose_tile(tiles, problem.m, problem.n, problem.k, vectors);
  row.file = rung.file;
  row.bound += row.per_rounding * rung.rounding;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const int split_k = shared_memory::choose_split_k(tiles[i], problem.m, problem.n, problem.k, vectors).split_k;
    row.name = std::to_string(tiles[i].BM) + "x" + std::to_string(tiles[i].BN);
    row.idea = row.plan = plan_text(tiles[i], split_k);
    row.picked = i == choice.tile && shared_memory::pick_gemm(problem).name == rung.name;
    row.skipped = !shared_memory::fits_block(tiles[i]) ? "it takes more shared memory than this GPU gives a block"
                  : !tiles[i].takes(vectors)           ? "it has no kernel for factors that are aligned like these"
                                                       : "";
    rows.push_back(row);
  }
  return rows;
}

/// The rows that are asked for.
template <typename T>
std::vector<Row> rows_of_product(const GemmOptions& o, const GemmProblem<T>& problem, const Row& common) {
  if (o.tiles) return rows_of_tiles(problem, rung_with_tiles<T>(o), common);
  const std::string picked(shared_memory::pick_gemm(problem).name);
  std::vector<Row> rows = rows_for(ladder::gemm_ladder<T>(), o.picked ? picked : o.rung, problem, common, picked);
  for (Row& row : rows) {
    const auto tiles = ladder::gemm_tiles<T>(row.name).info;
    row.bound += row.per_rounding * find_rung(ladder::gemm_ladder<T>(), row.name).rounding;
    if (tiles.empty() || !row.skipped.empty()) continue;
    const auto choice =
        shared_memory::choose_tile(tiles, problem.m, problem.n, problem.k, shared_memory::copies_vectors(problem));
    row.plan = plan_text(tiles[choice.tile], choice.split_k);
  }
  return rows;
}

template <typename T>
Table run_gemm(const GemmOptions& o) {
  check_factors<T>(o);
  const Row common = row_of<T>(o);
  Runner runner(o);
  const cuda::Stream& stream = runner.stream();
  Product<T> product({.op_a = o.transpose_a ? Transpose::yes : Transpose::no,
                      .op_b = o.transpose_b ? Transpose::yes : Transpose::no,
                      .m = o.m,
                      .n = o.n,
                      .k = o.k,
                      .alpha = static_cast<T>(o.alpha),
                      .beta = static_cast<T>(o.beta)},
                     Random(o.seed), stream);
  const GemmProblem<T>& problem = product.problem();
  Table table{
      .heading = o.tiles ? "tile" : "rung", .reference_name = "cuBLAS", .rows = rows_of_product(o, problem, common)};
  print_problem({{"gemm", describe(o)},
                 {"check", "each element is at most " + scientific(common.bound) +
                               " from stage 01's in double; inputs are random in [-1, 1)"}},
                common.bytes, common.operations, o.precision);

  const std::vector<double> expected = product.expected();
  std::vector<T> by_reference;
  Runner::Work work;
  work.prepare = [&] { product.prepare(); };
  work.verify = [&](Row& row) {
    const std::vector<T> found = product.result();
    note_difference(row, found, expected, o.m, o.n);
    if (by_reference.empty()) return;
    row.reference_difference = relative_difference(found, by_reference);
  };
  if constexpr (has_cublas) {
    ReferenceGemm cublas(arithmetic_of(o.cublas));
    if constexpr (std::is_same_v<T, float>) cublas.copy_factors(stream.get(), problem);
    table.reference = common;
    table.reference->name = "cuBLAS";
    table.reference->bound += common.per_rounding * rounding_of(o.cublas);
    work.enqueue = [&] { cublas.run(stream.get(), problem); };
    runner.run(*table.reference, work);
    work.prepare();
    work.enqueue();
    by_reference = product.result();
  }
  if (!o.tiles) {
    runner.run(table, ladder::gemm_ladder<T>(), problem, work);
    return table;
  }
  const auto tiles = ladder::gemm_tiles<T>(rung_with_tiles<T>(o).name);
  runner.run(table, [&](const Row& row) {
    const auto tile = static_cast<std::size_t>(&row - table.rows.data());
    const int split_k = shared_memory::choose_split_k(tiles.info[tile], problem.m, problem.n, problem.k,
                                                      shared_memory::copies_vectors(problem))
                            .split_k;
    work.enqueue = [&, tile, split_k] { tiles.run(stream.get(), problem, tile, split_k, runner.workspace()); };
    return work;
  });
  return table;
}

}  // namespace

void declare(CLI::App& command, GemmOptions& options) {
  add_size(command, "m", "rows of A and C", options.m);
  add_size(command, "n", "columns of B and C", options.n);
  add_size(command, "k", "columns of A and rows of B", options.k);
  command.option_defaults()->group("Problem");
  add_value(command, "alpha", "X", "factor of the product", shortest(options.alpha),
            [&](const std::string& text) { options.alpha = parse_finite(text); });
  add_value(command, "beta", "X", "factor of what C holds before", shortest(options.beta),
            [&](const std::string& text) { options.beta = parse_finite(text); });
  command.add_flag("--transpose-a", options.transpose_a, "A is stored as [k, m]")->disable_flag_override();
  command.add_flag("--transpose-b", options.transpose_b, "B is stored as [n, k]")->disable_flag_override();
  std::vector<std::string> rungs = names_of(ladder::gemm_ladder<float>());
  for (const std::string& name : names_of(ladder::gemm_ladder<double>())) {  // some are others
    if (std::ranges::find(rungs, name) == rungs.end()) rungs.push_back(name);
  }
  add_options(command, options, rungs);
  command.option_defaults()->group("Ladder");
  add_value(command, "cublas", "NAME", "the reference's arithmetic: own, tf32 or, on copies made before, bf16",
            options.cublas, [&](const std::string& text) {
              options.cublas = parse_choice(text, {"own", "tf32", "bf16"});
            });
  command.add_flag("--picked", options.picked, "only the rung that stage 03 picks")->disable_flag_override();
  command
      .add_flag("--tiles", options.tiles,
                "not the rungs, but the tiles from which the top one, or that of --rung, picks")
      ->disable_flag_override();
  command.option_defaults()->group("Results");
  add_value(command, "roofline", "FILE", "draw the rates under the roof of the device: SVG or PNG", "",
            [&](const std::string& text) { options.roofline = parse_name(text); });
  command.option_defaults()->group("Options");
}

Results run(const GemmOptions& o) {
  const bool has_rung = o.rung != "all";
  if (o.picked && (has_rung || o.tiles)) {
    throw UsageError("--picked says what to run, and so do --rung and --tiles; leave one away");
  }
  if (o.cublas != "own" && o.precision == "double") {
    throw UsageError("--cublas " + o.cublas + " is for floats; leave it or --precision away");
  }
  return {"gemm",
          {{"m", o.m},
           {"n", o.n},
           {"k", o.k},
           {"alpha", o.alpha},
           {"beta", o.beta},
           {"transpose_a", o.transpose_a},
           {"transpose_b", o.transpose_b}},
          {o.precision == "double" ? run_gemm<double>(o) : run_gemm<float>(o)}};
}

}  // namespace stagewise::ladder
