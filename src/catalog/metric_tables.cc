// Tables of metrics and configs: columns and migration.
#include "src/catalog/migrations.h"
#include "src/catalog/tables.h"

namespace strobe::catalog {

template <>
const Table<MetricCurve>& TableOf<MetricCurve>() {
  static const Table<MetricCurve> table{
      .name = "metric_curves",
      .noun = "metric curve",
      .key_columns = 4,
      .columns = {{"project", &MetricCurve::project},
                  {"location", &MetricCurve::location},
                  {"run", &MetricCurve::run},
                  {"id", &MetricCurve::id},
                  {"name", &MetricCurve::name},
                  {"host", &MetricCurve::host},
                  {"labels", &MetricCurve::labels},
                  {"unit", &MetricCurve::unit},
                  {"point_count", &MetricCurve::point_count},
                  {"kept_count", &MetricCurve::kept_count},
                  {"not_finite_count", &MetricCurve::not_finite_count},
                  {"has_steps", &MetricCurve::has_steps},
                  {"first_step", &MetricCurve::first_step},
                  {"last_step", &MetricCurve::last_step},
                  {"first_unix_ns", &MetricCurve::first_unix_ns},
                  {"last_unix_ns", &MetricCurve::last_unix_ns},
                  {"last_value", &MetricCurve::last},
                  {"minimum", &MetricCurve::minimum},
                  {"maximum", &MetricCurve::maximum},
                  {"sum_of_values", &MetricCurve::sum},
                  {"levels", &MetricCurve::levels}}};
  return table;
}

template <>
const Table<MetricBlock>& TableOf<MetricBlock>() {
  static const Table<MetricBlock> table{.name = "metric_blocks",
                                        .noun = "metric block",
                                        .key_columns = 4,
                                        .columns = {{"project", &MetricBlock::project},
                                                    {"location", &MetricBlock::location},
                                                    {"run", &MetricBlock::run},
                                                    {"id", &MetricBlock::id},
                                                    {"curve", &MetricBlock::curve},
                                                    {"level", &MetricBlock::level},
                                                    {"number", &MetricBlock::number},
                                                    {"point_count", &MetricBlock::point_count},
                                                    {"points", &MetricBlock::points}}};
  return table;
}

template <>
const Table<RunConfig>& TableOf<RunConfig>() {
  static const Table<RunConfig> table{.name = "run_configs",
                                      .noun = "run config",
                                      .key_columns = 4,
                                      .columns = {{"project", &RunConfig::project},
                                                  {"location", &RunConfig::location},
                                                  {"run", &RunConfig::run},
                                                  {"id", &RunConfig::id},
                                                  {"update_unix_ns", &RunConfig::update_unix_ns},
                                                  {"value", &RunConfig::value}}};
  return table;
}

std::vector<std::string_view> MetricStatements() {
  return {R"sql(CREATE TABLE metric_curves (
  project {text},
  location {text},
  run {text},
  id {text},
  name {text},
  host {text},
  labels {text},
  unit {text},
  point_count {big},
  kept_count {big},
  not_finite_count {big},
  has_steps {big},
  first_step {big},
  last_step {big},
  first_unix_ns {big},
  last_unix_ns {big},
  last_value {text},
  minimum {text},
  maximum {text},
  sum_of_values {text},
  levels {text},
  PRIMARY KEY (project, location, run, id)))sql",
          R"sql(CREATE TABLE metric_blocks (
  project {text},
  location {text},
  run {text},
  id {text},
  curve {text},
  level {big},
  number {big},
  point_count {big},
  points {text},
  PRIMARY KEY (project, location, run, id)))sql",
          R"sql(CREATE TABLE run_configs (
  project {text},
  location {text},
  run {text},
  id {text},
  update_unix_ns {big},
  value {text},
  PRIMARY KEY (project, location, run, id)))sql",
          "CREATE INDEX blocks_by_curve ON metric_blocks (project, location, run, curve, level, "
          "number)"};
}

}  // namespace strobe::catalog
