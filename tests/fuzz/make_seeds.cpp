/// @file
/// make_seeds FOLDER: writes small valid files, and some nearly valid ones, from which fuzzing
/// starts; one folder a target.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

#include "data/generators.hpp"
#include "io/checkpoint.hpp"
#include "io/data_sets/csv.hpp"
#include "io/data_sets/idx.hpp"
#include "io/hdf5.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void store(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw Error("cannot write " + path.string());
}

/// Also, compressed, beside it.
void store_both(const fs::path& path, const std::string& bytes) {
  store(path, bytes);
  gzFile file = gzopen((path.string() + ".gz").c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

void idx_seeds(const fs::path& folder) {
  const Dataset set({3, 2, 1}, 10, std::vector<std::uint8_t>(12, 200), {7, 0});
  write_idx(set, folder / "images", folder / "labels");
  const std::string labels = contents(folder / "labels");
  const std::string images = contents(folder / "images");
  const std::string size = {'\0', static_cast<char>(labels.size())};
  store(folder / "both", size + labels + images);
  store_both(folder / "images", images);
  store(folder / "both-gz", size + labels + contents(folder / "images.gz"));
  for (const char* name : {"images", "labels", "images.gz"}) fs::remove(folder / name);
}

void cifar10_seeds(const fs::path& folder) {
  std::string record(3073, '\x10');
  store_both(folder / "one", record);
  record[0] = 9;
  store_both(folder / "two", record + record);
}

void csv_seeds(const fs::path& folder) {
  store_both(folder / "plain", "a,b,label\n1,2.5,0\n-3,4e2,1\n");
  store(folder / "quoted", "\xef\xbb\xbf\"a\"\"\",label\r\n\"1\",\"x, y\"\r\n 2 ,z\r\n\r\n");
  store(folder / "bad", "a,label\nnan,0\n1e999,1,2\n\n,0");
}

hdf5::Handle file_for(const fs::path& path, bool old_format) {
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!old_format) H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file) throw Error("cannot write " + path.string());
  return file;
}

void add_set(const hdf5::Handle& file, const char* name, hid_t type,
             const std::vector<hsize_t>& dimensions, const std::vector<double>& values,
             bool compressed) {
  const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (compressed) {
    H5Pset_chunk(creation.id(), static_cast<int>(dimensions.size()), dimensions.data());
    H5Pset_shuffle(creation.id());
    H5Pset_deflate(creation.id(), 9);
  }
  const hdf5::Handle space(
      H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr), H5Sclose);
  const hdf5::Handle set(
      H5Dcreate2(file.id(), name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

void hdf5_seeds(const fs::path& folder) {
  for (const bool old_format : {true, false}) {
    for (const bool compressed : {true, false}) {
      const std::string name =
          std::string(old_format ? "old" : "new") + (compressed ? "-compressed" : "");
      const hdf5::Handle file = file_for(folder / name, old_format);
      add_set(file, "x", H5T_IEEE_F32LE, {2, 3, 2, 1}, std::vector<double>(12, 0.5), compressed);
      add_set(file, "y", H5T_IEEE_F64LE, {2, 3}, {0, 0, 1, 1, 0, 0}, compressed);
    }
    const hdf5::Handle file =
        file_for(folder / (old_format ? "old-numbers" : "new-numbers"), old_format);
    add_set(file, "x", H5T_STD_U8BE, {3, 4}, std::vector<double>(12, 1), false);
    add_set(file, "y", H5T_STD_I32LE, {3}, {2, 0, 1}, false);
  }
}

void checkpoint_seeds(const fs::path& folder) {
  const Checkpoint checkpoint = {
      .model = "mlp",
      .precision = "float",
      .settings = {{"hidden", "2"}, {"table-mean", "1,2"}},
      .parameters = {{"fc1/bias", {2}, {1, 2}}, {"fc1/weight", {3, 2}, {1, 2, 3, 4, 5, 6}}}};
  save_checkpoint(folder / "float", checkpoint);
  const hdf5::Handle file = file_for(folder / "bare", true);  // as report 001 has them
  const hdf5::Handle old = file_for(folder / "old-format", true);
  H5Gclose(H5Gcreate2(old.id(), "parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  add_set(old, "parameters/w", H5T_IEEE_F64BE, {2, 3}, {1, 2, 3, 4, 5, 6}, false);
  add_set(old, "parameters/b", H5T_IEEE_F64BE, {3}, {1, 2, 3}, false);
  add_set(file, "conv1", H5T_IEEE_F32LE, {2, 2, 1, 2}, std::vector<double>(8, 0.5), false);
  add_set(file, "fc1", H5T_IEEE_F32LE, {4, 2}, std::vector<double>(8, 0.5), false);
}

void image_seeds(const fs::path& folder) {
  // 3 x 2 pixels of RGBA.
  constexpr std::string_view png =
      "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02\x08\x06\0\0\0\x9d\x74\x66\x1a"
      "\0\0\0\x1aIDAT\x78\xda\x63\xf8\xcf\xc0\xf0\x1f\x0c\x19\xfe\x03\x49\x20\x60\0\xb2\x38\x39"
      "\x39\x19\0\xa0\xca\x0b\x11\x04\x5c\xca\x85\0\0\0\0IEND\xae\x42\x60\x82"sv;
  store(folder / "png", std::string(png));
}

}  // namespace
}  // namespace stagewise

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw stagewise::Error("usage: make_seeds FOLDER");
    const auto folder = [&](const char* target) {
      std::filesystem::path path = std::filesystem::path(argv[1]) / target;
      std::filesystem::create_directories(path);
      return path;
    };
    stagewise::idx_seeds(folder("idx"));
    stagewise::image_seeds(folder("image"));
    stagewise::cifar10_seeds(folder("cifar10"));
    stagewise::csv_seeds(folder("csv"));
    stagewise::hdf5_seeds(folder("hdf5"));
    stagewise::checkpoint_seeds(folder("checkpoint"));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "make_seeds: " << error.what() << '\n';
    return 1;
  }
}
