#include "round_amounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/small_experiment.h"
#include "test_trials.h"
#include "util/error.h"

namespace memduel {
namespace {

using RoundAmounts = TestFolder;

sqlite::Database database_in(const std::filesystem::path& folder) {
  sqlite::Database database(folder / "x.sqlite", sqlite::Mode::create);
  database.execute(
      "CREATE TABLE metric_names (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE)");
  return database;
}

TEST_F(RoundAmounts, AreTheSameWhenTheyAreReadAgain) {
  const Metrics all = {
      {"a_bytes", 9007199254740993.0}, {"b", 0.1}, {"c_seconds", -1e-300}, {"d", 0}};
  const sqlite::Database database = database_in(folder_);
  MetricNamesWriter writer(database);
  const std::int64_t id = writer.id_of(all);
  EXPECT_EQ(AmountsReader(database).metrics_of(id, amounts_text(all)), all);
  EXPECT_EQ(writer.id_of({{"a_bytes", 1}, {"b", 2}, {"c_seconds", 3}, {"d", 4}}), id);
  EXPECT_NE(writer.id_of({{"a_bytes", 1}}), id);
  EXPECT_EQ(amounts_text(Metrics()), "[]");
}

TEST_F(RoundAmounts, OfANumberThatIsNotFiniteAreNull) {
  const Metrics one = {{"a", std::nan("")}};
  EXPECT_EQ(amounts_text(one), "[null]");
  const sqlite::Database database = database_in(folder_);
  const std::int64_t id = MetricNamesWriter(database).id_of(one);
  EXPECT_TRUE(std::isnan(AmountsReader(database).metrics_of(id, "[null]").at("a")));
}

TEST_F(RoundAmounts, ThatAreDamagedAreRefused) {
  sqlite::Database database = database_in(folder_);
  const std::int64_t id = MetricNamesWriter(database).id_of({{"a", 1}, {"b", 2}});
  AmountsReader reader(database);
  for (const char* text : {"", "[", "[1]", "[1,2", "[1,2,3]", "[1,x]", "[1 2]", "{}", "[1,2] "})
    EXPECT_EQ(error_of([&] { reader.metrics_of(id, text); }).code(), ExitCode::io) << text;
  database.execute("INSERT INTO metric_names VALUES (7, '[\"b\",\"a\"]'), (8, '[\"a\",\"a\"]')");
  for (const int names : {7, 8})
    EXPECT_EQ(error_of([&] { reader.metrics_of(names, "[1,2]"); }).code(), ExitCode::io) << names;
  EXPECT_EQ(error_of([&] { reader.metrics_of(id + 1, "[1,2]"); }).code(), ExitCode::io);
}

}  // namespace
}  // namespace memduel
