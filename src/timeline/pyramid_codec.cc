#include "src/timeline/pyramid_codec.h"

#include <cstring>

namespace strobe::timeline {
namespace {

Status Corrupt(std::string_view what) {
  return DataLossError("PYRAMID_CORRUPT",
                       "Kept pyramids do not fit their line: " + std::string(what) + ".");
}

class Writer {
 public:
  template <typename T>
  void Number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <typename T>
  void Array(const std::vector<T>& values) {
    Number(static_cast<uint64_t>(values.size()));
    if (values.empty()) return;
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <typename T>
  bool Number(T* value) {
    if (left_.size() < sizeof(T)) return false;
    std::memcpy(value, left_.data(), sizeof(T));
    left_.remove_prefix(sizeof(T));
    return true;
  }
  // False unless there are exactly `expected` values.
  template <typename T>
  bool Array(uint64_t expected, std::vector<T>* values) {
    uint64_t count = 0;
    if (!Number(&count) || count != expected || count > left_.size() / sizeof(T)) return false;
    values->resize(count);
    if (count > 0) std::memcpy(values->data(), left_.data(), count * sizeof(T));
    left_.remove_prefix(count * sizeof(T));
    return true;
  }
  // As many as are said to be there.
  template <typename T>
  bool AnyArray(std::vector<T>* values) {
    uint64_t count = 0;
    std::string_view rest = left_;
    if (rest.size() < sizeof(count)) return false;
    std::memcpy(&count, rest.data(), sizeof(count));
    return Array(count, values);
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace

// Sees the private parts of what it writes and reads.
class PyramidCodec {
 public:
  static void Write(const RowPyramid& row, Writer* out) {
    out->Number(row.row_first_);
    out->Array(row.block_start_ps_);
    out->Array(row.group_start_ps_);
    out->Array(row.busy_before_ps_);
    out->Number(static_cast<uint32_t>(row.levels_.size()));
    for (const RowPyramid::Level& level : row.levels_) {
      out->Array(level.key);
      out->Array(level.child);
    }
    const RowBuckets& buckets = row.buckets_;
    out->Number(buckets.shift_ps_);
    out->Number(static_cast<int32_t>(buckets.finest_));
    out->Number(static_cast<int32_t>(buckets.coarsest_));
    out->Array(buckets.begin_);
    out->Array(buckets.buckets_);
  }

  static Status Read(const xplane::LineColumns::Row& row, uint64_t metadata_count, int64_t shift_ps,
                     Reader* in, RowPyramid* out) {
    constexpr uint32_t kFanout = RowPyramid::kFanout;
    if (!in->Number(&out->row_first_) || out->row_first_ != row.first) return Corrupt("a row");
    const uint64_t whole = row.count / kFanout;
    const uint64_t blocks = whole == 0 ? 0 : (uint64_t{row.count} + kFanout - 1) / kFanout;
    const uint64_t groups = blocks > kFanout ? (blocks + kFanout - 1) / kFanout : 0;
    if (!in->Array(blocks, &out->block_start_ps_) || !in->Array(groups, &out->group_start_ps_) ||
        !in->Array(whole == 0 ? 0 : whole + 1, &out->busy_before_ps_)) {
      return Corrupt("blocks");
    }
    STROBE_RETURN_IF_ERROR(ReadLevels(whole, in, out));
    return ReadBuckets(row, metadata_count, shift_ps, in, &out->buckets_);
  }

 private:
  static Status ReadLevels(uint64_t whole, Reader* in, RowPyramid* out) {
    uint32_t levels = 0;
    if (!in->Number(&levels)) return Corrupt("levels");
    uint64_t expected = whole;
    for (uint32_t l = 0; l < levels; ++l) {
      RowPyramid::Level& level = out->levels_.emplace_back();
      if (expected == 0 || !in->Array(expected, &level.key) || !in->Array(expected, &level.child)) {
        return Corrupt("levels");
      }
      for (const uint8_t child : level.child) {
        if (child >= RowPyramid::kFanout) return Corrupt("levels");
      }
      expected /= RowPyramid::kFanout;
    }
    // The last level is the one that is too short for another.
    return expected == 0 ? OkStatus() : Corrupt("levels");
  }

  static Status ReadBuckets(const xplane::LineColumns::Row& row, uint64_t metadata_count,
                            int64_t shift_ps, Reader* in, RowBuckets* out) {
    int32_t finest = 0;
    int32_t coarsest = 0;
    if (!in->Number(&out->shift_ps_) || !in->Number(&finest) || !in->Number(&coarsest) ||
        !in->AnyArray(&out->begin_) || !in->AnyArray(&out->buckets_)) {
      return Corrupt("buckets");
    }
    out->finest_ = finest;
    out->coarsest_ = coarsest;
    if (out->buckets_.empty()) return out->begin_.empty() ? OkStatus() : Corrupt("buckets");
    const bool shifts = finest >= 0 && finest <= coarsest && coarsest <= RowBuckets::kMaxCellShift;
    if (!shifts || out->shift_ps_ != shift_ps ||
        out->begin_.size() != static_cast<size_t>(coarsest - finest) + 2 ||
        out->begin_.front() != 0 || out->begin_.back() != out->buckets_.size()) {
      return Corrupt("buckets");
    }
    for (size_t c = 0; c + 1 < out->begin_.size(); ++c) {
      if (out->begin_[c] >= out->begin_[c + 1]) return Corrupt("buckets");
      const auto cells =
          std::span(out->buckets_).subspan(out->begin_[c], out->begin_[c + 1] - out->begin_[c]);
      if (!CellsFit(row, metadata_count, cells)) return Corrupt("buckets");
    }
    return OkStatus();
  }

  static bool CellsFit(const xplane::LineColumns::Row& row, uint64_t metadata_count,
                       std::span<const RowBuckets::Bucket> cells) {
    const uint64_t row_end = uint64_t{row.first} + row.count;
    for (size_t b = 0; b + 1 < cells.size(); ++b) {
      const RowBuckets::Bucket& bucket = cells[b];
      if (bucket.first < row.first || bucket.first >= cells[b + 1].first ||
          bucket.longest < bucket.first || bucket.longest >= cells[b + 1].first ||
          bucket.name >= metadata_count) {
        return false;
      }
    }
    return cells.back().first == row_end;
  }
};

std::string EncodePyramids(std::span<const RowPyramid> rows) {
  Writer out;
  out.Number(static_cast<uint32_t>(rows.size()));
  for (const RowPyramid& row : rows) PyramidCodec::Write(row, &out);
  return out.Take();
}

Result<std::vector<RowPyramid>> DecodePyramids(std::string_view bytes,
                                               const xplane::LineColumns& line,
                                               uint64_t metadata_count, int64_t shift_ps) {
  Reader in(bytes);
  uint32_t count = 0;
  const auto timed = line.timed_rows();
  if (!in.Number(&count) || count != timed.size()) return Corrupt("the number of rows");
  std::vector<RowPyramid> rows(count);
  for (uint32_t r = 0; r < count; ++r) {
    STROBE_RETURN_IF_ERROR(PyramidCodec::Read(timed[r], metadata_count, shift_ps, &in, &rows[r]));
  }
  if (!in.at_end()) return Corrupt("bytes are left over");
  return rows;
}

}  // namespace strobe::timeline
