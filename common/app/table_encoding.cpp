#include "app/table_encoding.hpp"

#include <nlohmann/json.hpp>

#include "tensor/error.hpp"

namespace stagewise {

using Json = nlohmann::ordered_json;

std::string to_text(const TableEncoding& encoding) {
  const Json json = {{"features", encoding.features},
                     {"classes", encoding.classes},
                     {"mean", encoding.standardization.mean},
                     {"deviation", encoding.standardization.deviation}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TableEncoding parse_table_encoding(const std::string& text) {
  TableEncoding encoding;
  try {
    const Json json = Json::parse(text);
    json.at("features").get_to(encoding.features);
    json.at("classes").get_to(encoding.classes);
    json.at("mean").get_to(encoding.standardization.mean);
    json.at("deviation").get_to(encoding.standardization.deviation);
  } catch (const Json::exception&) {
    throw Error("the description of a table's columns is not the JSON it should be");
  }
  const std::size_t features = encoding.features.size();
  if (encoding.standardization.mean.size() != features ||
      encoding.standardization.deviation.size() != features || encoding.classes.empty()) {
    throw Error("the description of a table's columns does not fit together");
  }
  return encoding;
}

}  // namespace stagewise
