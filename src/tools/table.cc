#include "src/tools/table.h"

#include "src/base/status.h"

namespace strobe::tools {

Column TextColumn(std::string_view id, std::string_view label, std::string_view description) {
  return {.id = std::string(id),
          .label = std::string(label),
          .type = ColumnType::kString,
          .description = std::string(description)};
}

Column NumberColumn(std::string_view id, std::string_view label, std::string_view unit,
                    std::string_view description) {
  return {.id = std::string(id),
          .label = std::string(label),
          .unit = std::string(unit),
          .description = std::string(description)};
}

void Table::AddRow(std::vector<Cell> cells, RowSubject subject) {
  STROBE_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
  subjects_.push_back(std::move(subject));
}

void Table::SetProperty(std::string_view name, std::string value) {
  for (auto& [known, text] : properties_) {
    if (known == name) {
      text = std::move(value);
      return;
    }
  }
  properties_.emplace_back(name, std::move(value));
}

const std::string* Table::FindProperty(std::string_view name) const {
  for (const auto& [known, text] : properties_) {
    if (known == name) return &text;
  }
  return nullptr;
}

size_t Table::ColumnIndex(std::string_view id) const {
  size_t index = 0;
  while (index < columns_.size() && columns_[index].id != id) ++index;
  return index;
}

}  // namespace strobe::tools
