#include "app/mistakes.hpp"

#include <iostream>
#include <optional>

#include "app/drawing.hpp"
#include "app/text.hpp"
#include "tensor/quote.hpp"

namespace stagewise {

void print_mistakes(const std::vector<Mistake>& mistakes, const Dataset& dataset,
                    const std::vector<std::string>& names, const std::string& score) {
  const bool are_images = dataset.sample_shape().rank() == 3;
  const std::size_t columns = columns_of_output();
  std::vector<Drawing> drawings;
  std::vector<std::vector<std::string>> captions;
  if (mistakes.empty()) {
    std::cout << "\nmistakes: none\n";
    return;
  }
  std::cout << "\nmistakes: the most confident first, each with the " << score
            << " of its answer\n";
  for (const Mistake& mistake : mistakes) {
    constexpr std::size_t longest = 16;  // so that two captions fit on a line
    const std::string sample = "sample " + std::to_string(mistake.sample);
    const std::string label = excerpt(names[static_cast<std::size_t>(mistake.label)], longest);
    const std::string answer = excerpt(names[static_cast<std::size_t>(mistake.answer)], longest);
    const std::string confidence = fixed(mistake.confidence, 4);
    if (are_images) {
      drawings.push_back(draw(dataset, mistake.sample, columns));
      captions.push_back({sample + ": " + label, "taken for " + answer + ", " + confidence});
    } else {
      std::cout << sample << ": " << label << ", taken for " << answer << ", " << confidence
                << '\n';
    }
  }
  if (are_images) print_drawings(drawings, captions, columns);
}

std::vector<MistakeReport> report_of(const std::vector<Mistake>& mistakes, const Dataset& dataset) {
  const bool are_images = dataset.sample_shape().rank() == 3;
  std::vector<MistakeReport> reports;
  for (const Mistake& mistake : mistakes) {
    reports.push_back(
        {.sample = mistake.sample,
         .label = mistake.label,
         .predicted = mistake.answer,
         .confidence = mistake.confidence,
         .image = are_images ? std::optional(shown_image(dataset, mistake.sample)) : std::nullopt});
  }
  return reports;
}

}  // namespace stagewise
