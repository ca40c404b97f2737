#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/generators.hpp"
#include "io/data_sets/formats.hpp"
#include "unit/sentence_about.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using Values = std::vector<double>;
using Labels = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

const std::string plain_numbers = "numbers have a point before their decimals, and nothing between their thousands";

void write_text(const fs::path& path, const std::string& text) { write_file(path, Bytes(text.begin(), text.end())); }

Table read_text(const std::string& text, const std::string& label = "label", const TableEncoding* known = nullptr) {
  const TemporaryFolder folder;
  write_text(folder / "table.csv", text);
  return read_csv(folder / "table.csv", label, known);
}

std::string complaint(const std::string& text, const std::string& label = "label",
                      const TableEncoding* known = nullptr) {
  const TemporaryFolder folder;
  const fs::path path = folder / "table.csv";
  write_text(path, text);
  return sentence_about(path, [&] { read_csv(path, label, known); });
}

TEST(Csv, ReadsNumbersAndClasses) {
  const Table table = read_text("a,label,b\n1,0,2.5\n-3e2,1,+4\n.5,0,1e-3\n");
  EXPECT_EQ(table.dataset.sample_shape(), Shape{2});
  EXPECT_EQ(*table.dataset.values(), (Values{1, 2.5, -300, 4, 0.5, 1e-3}));
  EXPECT_EQ(table.dataset.labels(), (Labels{0, 1, 0}));
  EXPECT_EQ(table.dataset.classes(), 2);
  EXPECT_EQ(table.encoding.features, (Names{"a", "b"}));
  EXPECT_EQ(table.encoding.classes, (Names{"0", "1"}));
}

TEST(Csv, ReadsEveryDialect) {
  const Values values = {1, 2, 3, 4};
  for (const char* text : {
           "a,b,label\n1,2,x\n3,4,y\n",            // plain
           "a,b,label\n1,2,x\n3,4,y",              // no line break at the end
           "a,b,label\n1,2,x\n3,4,y\n\n",          // an empty line at the end
           "a,b,label\n1,2,x\n3,4,y\n\r\n  \n",    // several
           "a,b,label\r\n1,2,x\r\n3,4,y\r\n",      // lines as on Windows
           "a,b,label\r\n1,2,x\r\n3,4,y\r",        // the last of them cut
           "\357\273\277a,b,label\n1,2,x\n3,4,y",  // byte-order mark
           "\xef\xbb\xbf\"a\",b,label\n1,2,x\n3,4,y",
           " a ,\tb, label\n1 , 2 ,x\n 3,4, y \n",  // blanks
           "\"a\",\"b\",\"label\"\n\"1\",\"2\",\"x\"\n \"3\" ,4,\"y\"\r\n",
           "\"a\";\"b\";\"label\"\r\n1,0;2;x\r\n3;4;\"y\"",  // other separators, and decimal commas
           "\xef\xbb\xbfsep=;\r\na;b;label\r\n1;2;x\r\n3;4;y\r\n",
           "\"sep=|\"\na|b|label\n1|2|x\n3|4|y\n",
           "a\tb\tlabel\n1\t2\tx\n3\t4\ty\n",
           "a|b|label\n1|2|x\n3|4|y\n",
           "a b  label\n1   2 x\n\t3 4\t\"y\" \r\n",
           "a,b,label,\n1,2,x,\n3,4,y,,\n,,,\n",  // separators behind the last column, and a line of them
           "a,b,label\n1,2,x,\n3,4,y\n",
       }) {
    const Table table = read_text(text);
    EXPECT_EQ(*table.dataset.values(), values) << text;
    EXPECT_EQ(table.dataset.labels(), (Labels{0, 1})) << text;
    EXPECT_EQ(table.encoding.features, (Names{"a", "b"})) << text;
    EXPECT_EQ(table.encoding.classes, (Names{"x", "y"})) << text;
  }
}

TEST(Csv, ALineBelowTheHeaderTellsSeparatorsFromCharactersOfNames) {
  EXPECT_EQ(read_text("a, in cm;label\n1;x\n2;y\n").encoding.features, (Names{"a, in cm"}));
  EXPECT_EQ(read_text("a;b,c;d,label\n1,2,x\n2,2,y\n").encoding.features, (Names{"a;b", "c;d"}));
  EXPECT_EQ(read_text("\"a;b;c\",label\n1,x\n2,y\n").encoding.features, (Names{"a;b;c"}));
  EXPECT_EQ(read_text("a b,label\n1,x\n2,y\n").encoding.features, (Names{"a b"}));
  EXPECT_EQ(complaint("a b\n1\n", "a b"), "FILE has no column but a b: there is nothing to learn from");
}

TEST(Csv, DecimalCommasAreReadBetweenSemicolons) {
  const Table table = read_text("a;label\n-1,5e1;x\n2;y\n");
  EXPECT_EQ(*table.dataset.values(), (Values{-15, 2}));
  EXPECT_EQ(table.note, "numbers have decimal commas: -1,5e1 is read as -1.5e1");
  EXPECT_EQ(read_text("a;label\n1.5;x\n2;y\n").note, "");
  EXPECT_EQ(complaint("a;label\n1.234;x\n2,5;y\n"),
            "FILE, line 3, column a: '2,5' stands in one file with '1.234'; " + plain_numbers);
  for (const char* const number : {"1.234,56", "1,234.56", "1,234,567", "1 234", "1'234", "1\u202f234,5"}) {
    EXPECT_EQ(complaint(std::string("a;label\n") + number + ";x\n"),
              std::string("FILE, line 2, column a: '") + number + "' is not a finite number; " + plain_numbers);
  }
}

TEST(Csv, AMissingHeaderCostsNoSample) {
  const std::string remedy = "; if the names are missing, `(seq -s ',' 4; zcat -f ";
  for (const auto& [text, label, begin] : std::vector<std::array<std::string, 3>>{
           {"5,0,0,7\n2,0,1,3\n", "5",
            "FILE, line 1: the names of the columns were expected, but the line has numbers only"},
           {"2,3,4,5\n2,0,1,3\n", "",
            "FILE, line 1: the names of the columns were expected, but the line has numbers only"},
           {"5.1,1.4,1.4,setosa\n", "", "FILE, line 1, column 3: the name '1.4' has been given to a column before"},
           {"5.1,1.4,.2,setosa\n5,1,2,setosa\n", "setosa", "the name setosa of a column of FILE is also a class in it"},
           {"5.1,1.4,.2,setosa\n", "kind",
            "--label kind is not a column of FILE, whose columns are 5.1, 1.4, .2, setosa"}}) {
    const std::string said = complaint(text, label);
    EXPECT_TRUE(said.starts_with(begin + remedy)) << said;
  }
  EXPECT_EQ(complaint("5;0;7\n", "5").find("seq -s ';' 3") == std::string::npos, false);
  EXPECT_EQ(complaint("5\t0\t7\n", "5").find("seq -s $'\\t' 3") == std::string::npos, false);
  // Numbers as names: of positions, of years.
  EXPECT_EQ(read_text("0,1,2\n7,8,0\n7,8,1\n", "2").dataset.size(), 2);
  EXPECT_EQ(read_text("1990,1989,label\n7,8,0\n7,8,1\n").dataset.size(), 2);
  EXPECT_EQ(read_text("words,spam\n7,spam\n8,ham\n", "spam").dataset.size(), 2);
}

TEST(Csv, FilesOfOtherKindsAreNamed) {
  const auto zip = [](const std::string& first) {
    return "PK\x03\x04" + std::string(22, '\0') + static_cast<char>(first.size()) + std::string(3, '\0') + first +
           "...";
  };
  for (const auto& [bytes, kind] : std::vector<std::array<std::string, 2>>{
           {"\n<!DOCTYPE html>\n", "a web page"},
           {"<HTML><body>404", "a web page"},
           {"\xff\xfe" + std::string("a\0,\0", 4), "UTF-16; convert it with iconv"},
           {std::string("a\0,\0b\0\n\0", 8), "no text: a byte of it is 0"},
           {"a,label\r1,0\r2,1\r", "lines end with CR alone"},
           {",a,label\n0,1,x\n", "index=False"},
           {zip("train.csv"), "a zip archive; unzip it first"},
           {zip("net/data.pkl"), "PyTorch's; ./run.sh convert"},
           {zip("x.npy"), "NumPy's"},
           {zip("[Content_Types].xml"), "a spreadsheet"},
           {zip("metadata.json"), "Keras's, not of Stagewise"},
           {std::string("\x58\0\0\0\0\0\0\0{\"fc1\":", 15), "a safetensors file; ./run.sh convert"},
           {std::string("\x08\x07\x12\x07pytorch", 11), "an ONNX model"},
           {"\x80\x02}q\x01", "a pickle"},
           {"\x89HDF\r\n\x1a\n", "--format hdf5"},
           {std::string(257, 'a') + "ustar", "a tar archive"},
           {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"}}) {
    const std::string said = complaint(bytes);
    EXPECT_NE(said.find(kind), std::string::npos) << said;
  }
}

TEST(Csv, QuotedCellsHoldAnything) {
  const Table table = read_text("\"a, \"\"b\"\"\",label\n1,\"x\ny\"\n2,\" x \"\n3,\"x\ny\"\n");
  EXPECT_EQ(table.encoding.features, (Names{"a, \"b\""}));
  EXPECT_EQ(table.encoding.classes, (Names{" x ", "x\ny"}));
  EXPECT_EQ(table.dataset.labels(), (Labels{1, 0, 1}));
}

TEST(Csv, ClassesAreInAscendingOrder) {
  const auto classes = [](const std::string& a, const std::string& b, const std::string& c) {
    return read_text("x,label\n1," + a + "\n1," + b + "\n1," + c + "\n");
  };
  EXPECT_EQ(classes("10", "9", "-1").encoding.classes, (Names{"-1", "9", "10"}));
  EXPECT_EQ(classes("10", "9", "-1").dataset.labels(), (Labels{2, 1, 0}));
  EXPECT_EQ(classes("10", "9", "x").encoding.classes, (Names{"10", "9", "x"}));
  EXPECT_EQ(classes("b", "B", "a").encoding.classes, (Names{"B", "a", "b"}));
  // 1 and 1.0 are one number; of NaN there is no order.
  EXPECT_EQ(classes("1", "0", "1.0").dataset.labels(), (Labels{1, 0, 1}));
  EXPECT_EQ(classes("1", "0", "1.0").dataset.classes(), 2);
  EXPECT_EQ(classes("nan", "1", "1.0").encoding.classes, (Names{"1", "1.0", "nan"}));
}

TEST(Csv, FilesMayBeLongAndCompressed) {
  const TemporaryFolder folder;
  GaussianOptions options;
  options.features = 40;  // more than one block of the reader
  const Dataset set = make_gaussian(options, 1000, 3, Purpose::test);
  write_csv(set, folder / "table.csv");
  ASSERT_EQ(std::system(("gzip " + (folder / "table.csv").string()).c_str()), 0);
  const Table table = read_csv(folder / "table.csv.gz", "label");
  EXPECT_EQ(*table.dataset.values(), *set.values());
  EXPECT_EQ(table.dataset.labels(), set.labels());
}

TEST(Csv, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const Values values = {0.1, -1e-300, 1.7976931348623157e308, 5e-324, 1.0 / 3, -0.0};
  const Dataset set({2}, 3, values, {2, 0, 1});
  write_csv(set, folder / "table.csv");
  const Bytes bytes = read_file(folder / "table.csv");
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()),
            "x1,x2,label\n0.1,-1e-300,2\n1.7976931348623157e+308,5e-324,0\n"
            "0.3333333333333333,-0,1\n");
  const Dataset read = read_csv(folder / "table.csv", "label").dataset;
  EXPECT_EQ(*read.values(), values);
  EXPECT_EQ(read.labels(), set.labels());
  EXPECT_EQ(folder.entries(), 1);

  const Dataset digits = make_digits(30, 1, Purpose::test);
  write_csv(digits, folder / "digits.csv");
  const Dataset pixels = read_csv(folder / "digits.csv", "label").dataset;
  EXPECT_EQ(pixels.sample_shape(), Shape{784});
  EXPECT_EQ(*pixels.values(), Values(digits.pixels()->begin(), digits.pixels()->end()));
}

TEST(Csv, WritingNamesTheFileThatCannotBeWritten) {
  const TemporaryFolder folder;
  const fs::path path = folder / "none" / "table.csv";
  EXPECT_EQ(sentence_about(path, [&] { write_csv(make_step(3, 1, Purpose::test), path); }),
            "the table FILE cannot be written: there is no folder " + (folder / "none").string());
}

/// A table, and what is said about it.
struct BadTable {
  std::string text;
  std::string sentence;
};

const std::string good = "a,b,label\n1,2,0\n";

const std::vector<BadTable> bad_tables = {
    {"", "cannot read FILE: the file is empty"},
    {"\xef\xbb\xbf", "FILE, line 1: the names of the columns were expected, but the line is empty"},
    {"\n" + good, "FILE, line 1: the names of the columns were expected, but the line is empty"},
    {"a,b,label\n", "FILE has a header, but not one row below it"},
    {"a,b,label\n\n\n", "FILE has a header, but not one row below it"},
    {"label\n1\n2\n", "FILE has no column but label: there is nothing to learn from"},
    {"a,,label\n1,2,0\n", "FILE, line 1, column 2: the column has no name"},
    {"a,b,a,label\n", "FILE, line 1, column 3: the name 'a' has been given to a column before"},
    {"a,label,label\n", "FILE, line 1, column 3: the name 'label' has been given to a column before"},
    {good + "1,,0\n", "FILE, line 3, column b: the cell is empty"},
    {good + "1, \t,0\n", "FILE, line 3, column b: the cell is empty"},
    {good + "1,\"\",0\n", "FILE, line 3, column b: the cell is empty"},
    {good + "1,2,\n", "FILE, line 3, column label: the cell is empty"},
    {good + "1,two,0\n", "FILE, line 3, column b: 'two' is not a finite number"},
    {good + "1,2x,0\n", "FILE, line 3, column b: '2x' is not a finite number"},
    {good + "1,2 3,0\n", "FILE, line 3, column b: '2 3' is not a finite number; " + plain_numbers},
    {good + "0x10,2,0\n", "FILE, line 3, column a: '0x10' is not a finite number"},
    {good + "\"1,5\",2,0\n", "FILE, line 3, column a: '1,5' is not a finite number; " + plain_numbers},
    {good + "+-1,2,0\n", "FILE, line 3, column a: '+-1' is not a finite number"},
    {good + "NaN,2,0\n", "FILE, line 3, column a: 'NaN' is not a finite number"},
    {good + "1,-inf,0\n", "FILE, line 3, column b: '-inf' is not a finite number"},
    {good + "1e999,2,0\n", "FILE, line 3, column a: '1e999' is not a finite number"},
    {good + "1,-1e-999,0\n", "FILE, line 3, column b: '-1e-999' is not a finite number"},
    {good + std::string(10000, 'x') + ",2,0\n",
     "FILE, line 3, column a: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is not a finite "
     "number"},
    {good + std::string("1,2\0\x1b[31m\x7f,0\n", 13),
     R"(FILE, line 3, column b: '2\x00\x1b[31m\x7f' is not a finite number)"},
    {good + "1,2\r3,0\n", "FILE, line 3, column b: '2\\r3' is not a finite number"},
    {"\"a\nb\",label\nx,0\n", "FILE, line 3, column a\\nb: 'x' is not a finite number"},
    {good + "1,2\n", "FILE, line 3: the number of cells is 2, but the header names 3 columns"},
    {good + "1,2,0,,7\n", "FILE, line 3: the number of cells is 5, but the header names 3 columns"},
    {good + "1", "FILE, line 3: the number of cells is 1, but the header names 3 columns"},
    {good + "1;2;0\n", "FILE, line 3: the number of cells is 1, but the header names 3 columns"},
    {good + "\n\n1,2,1\n", "FILE, line 3: the line is empty, but rows follow it"},
    {good + "1,\"2,0\n1,2,0\n", "FILE, line 3, column 2: the quote that begins this cell is never closed"},
    {"a,\"b,label\n", "FILE, line 1, column 2: the quote that begins this cell is never closed"},
    {good + "1,\"2\"3,0\n", "FILE, line 3, column 2: something follows the quote that ends this cell"},
    {"a,label\n1,\"x\n\n\"\n?,\"y\"\n", "FILE, line 5, column a: '?' is not a finite number"},
    {good + "3,4,0\n", "the column label of FILE holds one class only, '0': there is nothing to tell apart"},
    {good + "3,4,0.0\n", "the column label of FILE holds one class only, '0': there is nothing to tell apart"},
};

TEST(Csv, WhatIsWrongIsRefusedInASentence) {
  for (const auto& [text, sentence] : bad_tables) EXPECT_EQ(complaint(text), sentence);
}

TEST(Csv, ALabelThatIsNoColumnIsWrongUsage) {
  EXPECT_EQ(complaint(good, ""),
            "--label must name the column of FILE that holds the class; the columns are a, b, label");
  EXPECT_EQ(complaint(good, "A"), "--label A is not a column of FILE, whose columns are a, b, label");
  EXPECT_THROW(read_text(good, "A"), UsageError);
  std::string wide = "c1";
  for (int i = 2; i <= 30; ++i) wide += ",c" + std::to_string(i);
  const std::string said = complaint(wide + "\n", "x");
  EXPECT_TRUE(said.ends_with("c19, c20, ... (30 in all)")) << said;
}

// --- a table seen through the eyes of one that a network was trained on

TableEncoding encoding_of_training() {
  return {
      .features = {"a", "b"}, .classes = {"1", "2", "10"}, .standardization = {.mean = {1, 2}, .deviation = {3, 4}}};
}

TEST(Csv, ClassesAreThoseOfTheTraining) {
  const TableEncoding known = encoding_of_training();
  // Alone, 2 and 10 would be the classes 0 and 1.
  const Table table = read_text("a,b,label\n1,2,10\n1,2,2.0\n", "label", &known);
  EXPECT_EQ(table.dataset.labels(), (Labels{2, 1}));
  EXPECT_EQ(table.dataset.classes(), 3);
  EXPECT_EQ(read_text("a,b,label\n1,2,10\n", "label", &known).dataset.labels(), (Labels{2}));
  EXPECT_EQ(table.encoding.standardization.mean, known.standardization.mean);
}

TEST(Csv, TextsThatLookLikeOneNumberAreOneClassOnlyAmongNumbers) {
  const std::string text = "a,label\n1,0\n1,.0\n1,x\n";
  const Table table = read_text(text);
  EXPECT_EQ(table.encoding.classes, (Names{".0", "0", "x"}));
  EXPECT_EQ(read_text(text, "label", &table.encoding).dataset.labels(), table.dataset.labels());
}

TEST(Csv, ColumnsAndClassesMustBeKnown) {
  const TableEncoding known = encoding_of_training();
  EXPECT_EQ(complaint("a,b,label\n1,2,3\n", "label", &known),
            "the column label of FILE holds '3', but the network was trained on the classes 1, 2, "
            "10");
  EXPECT_EQ(complaint("b,a,label\n1,2,3\n", "label", &known),
            "FILE has the feature columns b, a, but the network was trained on a, b");
  EXPECT_EQ(complaint("a,label\n1,2\n", "label", &known),
            "FILE has the feature columns a, but the network was trained on a, b");
}

// --- standardization

TEST(Standardization, SurvivesLargeMeansAndConstantsThatAreNoBinaryFraction) {
  Values values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(1e9 + (i % 2));
    values.push_back(0.1);
  }
  const Standardization found = standardization_of(Dataset({2}, 1, values, std::vector<std::int32_t>(1000, 0)));
  EXPECT_NEAR(found.deviation[0], 0.5, 1e-9);
  EXPECT_EQ(found.deviation[1], 0);  // the mean of 0.1 a thousand times is not 0.1
}

TEST(Standardization, RefusesWhatDoesNotFit) {
  const Dataset set({2}, 1, Values{1, 2}, {0});
  EXPECT_THROW(standardize(set, {{1}, {1}}), Error);
  EXPECT_THROW(standardization_of(make_digits(2, 1, Purpose::test)), Error);
  EXPECT_THROW(standardization_of(set.slice(0, 0)), Error);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_THROW(standardization_of(Dataset({1}, 1, Values{huge, -huge}, {0, 0})), Error);
}

}  // namespace
}  // namespace stagewise
