// What a job recorded about itself, as the catalogue keeps it: curves, the blocks with their
// points, and how the job was configured. metrics.h is what others use.
//
// A curve is one metric of one host with one set of labels; its id is a hash of these. Numbers that
// are no integers are texts (the shortest that read back to the same), since both databases then
// keep them alike.
#pragma once

#include <cstdint>
#include <string>

#include "src/catalog/resource.h"

namespace strobe::catalog {

struct MetricCurve {
  std::string project;
  std::string location;
  std::string run;
  std::string id;
  std::string name;
  std::string host;    // empty: nobody said
  std::string labels;  // JSON object, keys sorted
  std::string unit;
  int64_t point_count = 0;  // that came
  int64_t kept_count = 0;   // that are in the blocks
  int64_t not_finite_count = 0;
  int64_t has_steps = 0;
  int64_t first_step = 0;
  int64_t last_step = 0;
  int64_t first_unix_ns = 0;
  int64_t last_unix_ns = 0;
  std::string last;
  std::string minimum;  // of the finite ones; empty: none
  std::string maximum;
  std::string sum;
  std::string levels;  // "first:next" of each level's blocks, joined by spaces

  Key key() const { return {project, location, run, id}; }
};

struct MetricBlock {
  std::string project;
  std::string location;
  std::string run;
  std::string id;  // of curve, level and number
  std::string curve;
  int64_t level = 0;  // 0: as they came; n: each point is up to 8^n of them
  int64_t number = 0;
  int64_t point_count = 0;
  std::string points;

  Key key() const { return {project, location, run, id}; }
};

struct RunConfig {
  std::string project;
  std::string location;
  std::string run;
  std::string id;  // its name
  int64_t update_unix_ns = 0;
  std::string value;

  Key key() const { return {project, location, run, id}; }
};

}  // namespace strobe::catalog
