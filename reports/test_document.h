// What tests read of a document: sections by their id, tables, and cells as text.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "reports/report_document.h"
#include "reports/terminal.h"
#include "test_sample_run.h"

namespace memduel {

/// Null where the document has no such section.
inline const Section* section_of(const ReportDocument& document, const std::string& id) {
  for (const auto* sections : {&document.first_screen, &document.details})
    for (const Section& one : *sections)
      if (one.id == id) return &one;
  return nullptr;
}

/// Every table of the parts, those in folds too.
inline std::vector<Table> tables_in(const std::vector<Part>& parts) {
  std::vector<Table> tables;
  for (const Part& part : parts) {
    if (const auto* table = std::get_if<Table>(&part.value)) tables.push_back(*table);
    if (const auto* fold = std::get_if<Fold>(&part.value))
      for (Table& table : tables_in(fold->parts)) tables.push_back(std::move(table));
  }
  return tables;
}

/// The first table of a section; empty where there is none.
inline Table table_in(const ReportDocument& document, const std::string& id) {
  const Section* section = section_of(document, id);
  const std::vector<Table> tables =
      section == nullptr ? std::vector<Table>() : tables_in(section->parts);
  return tables.empty() ? Table() : tables.front();
}

inline std::vector<std::string> texts_of(const Row& row) {
  std::vector<std::string> texts;
  for (const Cell& cell : row.cells) texts.push_back(cell.text.plain());
  return texts;
}

inline std::vector<std::string> titles_of(const Table& table) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  return titles;
}

inline Row row_named(const Table& table, const std::string& name) {
  for (const Row& row : table.rows)
    if (row.cells.at(0).text.plain() == name) return row;
  ADD_FAILURE() << "no row " << name;
  return {};
}

/// The fold of a section whose title begins so.
inline Fold fold_named(const ReportDocument& document, const std::string& id,
                       const std::string& title) {
  if (const Section* section = section_of(document, id))
    for (const Part& part : section->parts)
      if (const auto* fold = std::get_if<Fold>(&part.value);
          fold != nullptr && fold->title.starts_with(title))
        return *fold;
  ADD_FAILURE() << "no fold " << title;
  return {};
}

inline ReportDocument document_from(const Sample& sample) {
  return document_of(build_report_model(sample.results, sample.run));
}

/// A section of the details as a wide terminal shows it; empty where the document has none.
inline std::string text_of_section(const ReportDocument& document, const std::string& id) {
  const Section* section = section_of(document, id);
  if (section == nullptr) return {};
  ReportDocument alone;
  alone.details.push_back(*section);
  const std::string text = render_terminal(alone, {.width = 200});
  return text.substr(text.find(section->title));
}

}  // namespace memduel
