#include "io/foreign.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stagewise {
namespace {

struct Signature {
  std::string_view bytes;  ///< with which such a file begins
  std::string_view kind;
};

constexpr std::string_view excel = "it is a spreadsheet, not a table of text; save it as CSV";
constexpr std::string_view pytorch =
    "it is a file of PyTorch's; ./run.sh convert makes a checkpoint of a state_dict, and h5py writes data as HDF5";
constexpr std::string_view numpy = "it is a file of NumPy's; h5py writes its arrays to an HDF5 file, as /x and /y";
constexpr std::string_view utf_16 = "it is text in UTF-16; convert it with iconv -f UTF-16 -t UTF-8";

constexpr auto signatures = std::to_array<Signature>({
    {"<!doctype", "it is a web page, most likely a server's message; fetch the file again"},
    {"<html", "it is a web page, most likely a server's message; fetch the file again"},
    {"<?xml", "it is XML, most likely a server's message; fetch the file again"},
    {"version https://git-lfs", "it only stands for a file that Git LFS keeps; git lfs pull fetches that"},
    {"\xff\xfe", utf_16},
    {"\xfe\xff", utf_16},
    {"\x89HDF\r\n", "it is an HDF5 file; data in such files need --format hdf5"},
    {"\x93NUMPY", numpy},
    {"\x1f\x8b", "it is gzip-compressed; unpack it with gunzip"},
    {"\xfd"
     "7zXZ",
     "it is compressed; unpack it with unxz"},
    {"BZh91AY", "it is compressed; unpack it with bunzip2"},
    {"\x28\xb5\x2f\xfd", "it is compressed; unpack it with unzstd"},
    {"7z\xbc\xaf\x27", "it is a 7z archive; unpack it first"},
    {"Rar!\x1a", "it is a RAR archive; unpack it first"},
    {"PAR1", "it is a Parquet file; pandas writes it as CSV"},
    {"MATLAB 5.0", "it is a file of MATLAB's; h5py writes its arrays to an HDF5 file, as /x and /y"},
    {"\xd0\xcf\x11\xe0", excel},
    {"\x80\x02\x8a\x0a\x6c\xfc", pytorch},
});

/// Of an archive, the first file says what the whole is.
constexpr auto first_names = std::to_array<Signature>({
    {"data.pkl", pytorch},
    {".npy", numpy},
    {"[Content_Types].xml", excel},
    {"_rels/", excel},
    {"xl/", excel},
    {"mimetype", excel},
});

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string zip_kind(std::string_view head) {
  constexpr std::size_t name_begin = 30;
  const auto length = static_cast<unsigned char>(head[26]);
  const std::string_view name = head.substr(name_begin, length);
  for (const auto& [part, kind] : first_names) {
    if (contains(name, part)) return std::string(kind);
  }
  if (name == "metadata.json" || name == "config.json" || contains(name, ".weights.h5")) {
    return kind_of_keras;
  }
  return "it is a zip archive; unzip it first";
}

}  // namespace

std::string foreign_kind(std::string_view head) {
  const std::size_t begin = std::min(head.size(), head.find_first_not_of(" \t\r\n"));
  const auto begins_with = [](std::string_view text, std::string_view bytes) {
    return text.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), text.begin(), [](char a, char b) {
             return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b))) || a == b;
           });
  };
  for (const auto& [bytes, kind] : signatures) {
    if (begins_with(head.substr(bytes[0] == '<' ? begin : 0), bytes)) return std::string(kind);
  }
  constexpr std::size_t zip_header = 30;
  constexpr std::size_t tar_place = 257;
  if (head.starts_with("PK\x03\x04") && head.size() > zip_header) return zip_kind(head);
  if (head.size() > tar_place && head.substr(tar_place).starts_with("ustar")) {
    return "it is a tar archive; unpack it with tar -xf";
  }
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return "it is a pickle of Python's, as of CIFAR-10's version for Python; the binary version is what is read here";
  }
  if (head.size() > 10 && head.substr(4, 6) == std::string_view("\0\0\0\0{\"", 6)) {
    return "it is a safetensors file; ./run.sh convert makes a checkpoint of it";
  }
  const std::string_view producer = head.substr(0, 64);
  if (head.starts_with('\x08') && (contains(producer, "onnx") || contains(producer, "pytorch"))) {
    return "it is an ONNX model, which cannot be converted; export the weights as safetensors for ./run.sh convert";
  }
  return "";
}

}  // namespace stagewise
