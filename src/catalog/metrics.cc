#include "src/catalog/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "src/base/hash.h"
#include "src/base/json_writer.h"
#include "src/base/utf8.h"
#include "src/catalog/secret.h"

namespace strobe::catalog {
namespace {

constexpr size_t kWordBytes = 8;
constexpr size_t kRawWords = 3;
constexpr size_t kCombinedWords = 6;

void AppendWord(uint64_t word, std::string* bytes) {
  for (size_t i = 0; i < kWordBytes; ++i) *bytes += static_cast<char>(word >> (8 * i) & 0xff);
}

uint64_t WordAt(std::string_view bytes, size_t at) {
  uint64_t word = 0;
  for (size_t i = 0; i < kWordBytes; ++i) {
    word |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  }
  return word;
}

StoredPoint Stored(const MetricPoint& point) {
  const bool finite = std::isfinite(point.value);
  return {.unix_ns = point.unix_ns,
          .step = point.step,
          .count = finite ? 1 : 0,
          .minimum = point.value,
          .maximum = point.value,
          .sum = point.value};
}

// Bits, so that a NaN is the same as itself.
bool SamePoint(const StoredPoint& a, const StoredPoint& b) {
  return a.unix_ns == b.unix_ns && a.step == b.step &&
         std::bit_cast<uint64_t>(a.sum) == std::bit_cast<uint64_t>(b.sum);
}

std::string LabelsJson(const std::map<std::string, std::string>& labels) {
  JsonWriter json;
  json.BeginObject();
  for (const auto& [name, value] : labels) json.Key(name).String(value);
  json.EndObject();
  return json.TakeText();
}

std::string CurveId(const MetricBatch& batch) {
  Hasher hasher;
  hasher.Add(
      fmt::format("{}:{}{}:{}", batch.name.size(), batch.name, batch.host.size(), batch.host));
  hasher.Add(LabelsJson(batch.labels));
  return hasher.Digest128().ToHex();
}

bool IsText(std::string_view text, size_t max_bytes) {
  return text.size() <= max_bytes && text.find('\0') == std::string_view::npos &&
         ToValidUtf8(text) == text;
}

bool IsAllowed(const MetricBatch& batch) {
  return !batch.name.empty() && IsText(batch.name, kMaxMetricNameBytes) &&
         IsText(batch.host, kMaxMetricNameBytes) && IsText(batch.unit, kMaxLabelBytes) &&
         batch.labels.size() <= kMaxLabels &&
         std::all_of(batch.labels.begin(), batch.labels.end(), [](const auto& label) {
           return IsText(label.first, kMaxLabelBytes) && IsText(label.second, kMaxLabelBytes);
         });
}

struct Level {
  int64_t first = 0;
  int64_t next = 0;
  int64_t count() const { return next - first; }
};

std::vector<Level> ReadLevels(std::string_view text) {
  std::vector<Level> levels;
  while (!text.empty() && levels.size() < kMaxLevels) {
    const std::string_view part = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    Level level;
    const size_t colon = std::min(part.find(':'), part.size());
    std::from_chars(part.data(), part.data() + colon, level.first);
    if (colon < part.size()) {
      std::from_chars(part.data() + colon + 1, part.data() + part.size(), level.next);
    }
    levels.push_back(level);
  }
  if (levels.empty()) levels.emplace_back();
  return levels;
}

std::string WriteLevels(const std::vector<Level>& levels) {
  std::string text;
  for (const Level& level : levels) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", level.first, level.next);
  }
  return text;
}

// One curve being added to.
class CurveWriter {
 public:
  CurveWriter(Transaction& transaction, MetricCurve curve)
      : transaction_(transaction), curve_(std::move(curve)), levels_(ReadLevels(curve_.levels)) {}

  Status Append(const std::vector<MetricPoint>& points, MetricsTaken* taken) {
    STROBE_RETURN_IF_ERROR(OpenTail());
    for (const MetricPoint& point : points) {
      const StoredPoint stored = Stored(point);
      const bool repeated = std::any_of(tail_.begin(), tail_.end(), [&](const StoredPoint& there) {
        return SamePoint(there, stored);
      });
      if (repeated) {
        ++taken->repeated;
        continue;
      }
      if (tail_.size() >= kPointsPerBlock) {
        STROBE_RETURN_IF_ERROR(WriteTail());
        tail_.clear();
        tail_number_ = levels_[0].next;
        tail_is_there_ = false;
      }
      tail_.push_back(stored);
      Count(point);
      ++taken->points;
    }
    if (!tail_.empty()) STROBE_RETURN_IF_ERROR(WriteTail());
    for (size_t level = 0; level < levels_.size(); ++level) {
      STROBE_RETURN_IF_ERROR(Combine(level));
    }
    curve_.levels = WriteLevels(levels_);
    return OkStatus();
  }
  const MetricCurve& curve() const { return curve_; }

 private:
  std::string BlockId(size_t level, int64_t number) const {
    return fmt::format("{}.{}.{}", curve_.id, level, number);
  }
  Key BlockKey(size_t level, int64_t number) const {
    return {curve_.project, curve_.location, curve_.run, BlockId(level, number)};
  }
  MetricBlock MakeBlock(size_t level, int64_t number,
                        const std::vector<StoredPoint>& points) const {
    MetricBlock block;
    block.project = curve_.project;
    block.location = curve_.location;
    block.run = curve_.run;
    block.id = BlockId(level, number);
    block.curve = curve_.id;
    block.level = static_cast<int64_t>(level);
    block.number = number;
    block.point_count = static_cast<int64_t>(points.size());
    block.points = EncodePoints(points, level > 0);
    return block;
  }

  Status OpenTail() {
    tail_number_ = levels_[0].next;
    if (levels_[0].count() == 0) return OkStatus();
    STROBE_ASSIGN_OR_RETURN(const std::optional<MetricBlock> block,
                            transaction_.Find<MetricBlock>(BlockKey(0, levels_[0].next - 1)));
    if (!block) return OkStatus();
    STROBE_ASSIGN_OR_RETURN(tail_, DecodePoints(block->points, /*combined=*/false));
    tail_number_ = block->number;
    tail_is_there_ = true;
    return OkStatus();
  }

  Status WriteTail() {
    const MetricBlock block = MakeBlock(0, tail_number_, tail_);
    if (tail_is_there_) return transaction_.Update(block);
    tail_is_there_ = true;
    levels_[0].next = tail_number_ + 1;
    return transaction_.Insert(block);
  }

  void Count(const MetricPoint& point) {
    const bool first = curve_.point_count == 0;
    ++curve_.point_count;
    ++curve_.kept_count;
    if (first || point.unix_ns < curve_.first_unix_ns) curve_.first_unix_ns = point.unix_ns;
    if (first || point.unix_ns >= curve_.last_unix_ns) {
      curve_.last_unix_ns = point.unix_ns;
      curve_.last = NumberText(point.value);
    }
    if (point.step != kNoStep) {
      const bool first_step = curve_.has_steps == 0;
      curve_.first_step = first_step ? point.step : std::min(curve_.first_step, point.step);
      curve_.last_step = first_step ? point.step : std::max(curve_.last_step, point.step);
      curve_.has_steps = 1;
    }
    if (!std::isfinite(point.value)) {
      ++curve_.not_finite_count;
      return;
    }
    const bool none = curve_.minimum.empty();
    curve_.minimum =
        NumberText(none ? point.value : std::min(NumberOf(curve_.minimum), point.value));
    curve_.maximum =
        NumberText(none ? point.value : std::max(NumberOf(curve_.maximum), point.value));
    curve_.sum = NumberText((none ? 0 : NumberOf(curve_.sum)) + point.value);
  }

  // While a level has too many blocks, its oldest become one of the next.
  Status Combine(size_t level) {
    const int64_t kept = level == 0 ? kBlocksKept : kCombinedBlocksKept;
    // One more than is kept, since the newest block is rarely full.
    while (levels_[level].count() > kept + kBlocksToCombine && level + 1 < kMaxLevels) {
      std::vector<StoredPoint> points;
      for (int64_t i = 0; i < kBlocksToCombine; ++i) {
        const Key key = BlockKey(level, levels_[level].first + i);
        STROBE_ASSIGN_OR_RETURN(const std::optional<MetricBlock> block,
                                transaction_.Find<MetricBlock>(key));
        if (!block) continue;
        STROBE_ASSIGN_OR_RETURN(const std::vector<StoredPoint> some,
                                DecodePoints(block->points, level > 0));
        points.insert(points.end(), some.begin(), some.end());
        STROBE_RETURN_IF_ERROR(transaction_.Delete<MetricBlock>(key));
      }
      const std::vector<StoredPoint> combined = CombinePoints(points);
      if (levels_.size() == level + 1) levels_.emplace_back();
      STROBE_RETURN_IF_ERROR(
          transaction_.Insert(MakeBlock(level + 1, levels_[level + 1].next, combined)));
      ++levels_[level + 1].next;
      levels_[level].first += kBlocksToCombine;
      curve_.kept_count -= static_cast<int64_t>(points.size() - combined.size());
    }
    return OkStatus();
  }

  Transaction& transaction_;
  MetricCurve curve_;
  std::vector<Level> levels_;
  std::vector<StoredPoint> tail_;
  int64_t tail_number_ = 0;
  bool tail_is_there_ = false;
};

constexpr std::string_view kOfRun = "project = ? AND location = ? AND run = ?";

std::vector<SqlValue> RunValues(const Key& run) { return {run.project, run.location, run.id}; }

Result<int64_t> CountOfRun(Transaction& transaction, std::string_view table, const Key& run) {
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows found,
      transaction.sql().Run(fmt::format("SELECT COUNT(*) FROM {} WHERE {}", table, kOfRun),
                            RunValues(run)));
  return std::get<int64_t>(found.rows.at(0).at(0));
}

}  // namespace

std::string NumberText(double value) { return fmt::format("{}", value); }

double NumberOf(std::string_view text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string EncodePoints(const std::vector<StoredPoint>& points, bool combined) {
  std::string bytes;
  bytes.reserve(points.size() * kWordBytes * (combined ? kCombinedWords : kRawWords));
  for (const StoredPoint& point : points) {
    AppendWord(static_cast<uint64_t>(point.unix_ns), &bytes);
    AppendWord(static_cast<uint64_t>(point.step), &bytes);
    AppendWord(std::bit_cast<uint64_t>(point.sum), &bytes);
    if (!combined) continue;
    AppendWord(static_cast<uint64_t>(point.count), &bytes);
    AppendWord(std::bit_cast<uint64_t>(point.minimum), &bytes);
    AppendWord(std::bit_cast<uint64_t>(point.maximum), &bytes);
  }
  return Base64UrlEncode(bytes);
}

Result<std::vector<StoredPoint>> DecodePoints(std::string_view text, bool combined) {
  const std::optional<std::string> bytes = Base64UrlDecode(text);
  const size_t point_bytes = kWordBytes * (combined ? kCombinedWords : kRawWords);
  if (!bytes || bytes->size() % point_bytes != 0) {
    return DataLossError("METRIC_DAMAGED", "A block of points in the catalogue cannot be read.");
  }
  std::vector<StoredPoint> points;
  points.reserve(bytes->size() / point_bytes);
  for (size_t at = 0; at < bytes->size(); at += point_bytes) {
    const auto word = [&](size_t index) { return WordAt(*bytes, at + index * kWordBytes); };
    const MetricPoint raw{.unix_ns = static_cast<int64_t>(word(0)),
                          .step = static_cast<int64_t>(word(1)),
                          .value = std::bit_cast<double>(word(2))};
    StoredPoint point = Stored(raw);
    if (combined) {
      point.count = static_cast<int64_t>(word(3));
      point.minimum = std::bit_cast<double>(word(4));
      point.maximum = std::bit_cast<double>(word(5));
    }
    points.push_back(point);
  }
  return points;
}

std::vector<StoredPoint> CombinePoints(const std::vector<StoredPoint>& points) {
  std::vector<StoredPoint> combined;
  int64_t in_last = 0;
  int64_t last_step = kNoStep;
  for (const StoredPoint& point : points) {
    const bool back = point.step < last_step || (point.step == kNoStep) != (last_step == kNoStep);
    last_step = point.step;
    if (combined.empty() || in_last == kBlocksToCombine || back) {
      combined.push_back(point);
      in_last = 1;
      continue;
    }
    ++in_last;
    StoredPoint& into = combined.back();
    if (point.count == 0) continue;
    if (into.count == 0) {
      into.minimum = point.minimum;
      into.maximum = point.maximum;
      into.sum = point.sum;
    } else {
      into.minimum = std::min(into.minimum, point.minimum);
      into.maximum = std::max(into.maximum, point.maximum);
      into.sum += point.sum;
    }
    into.count += point.count;
  }
  return combined;
}

Result<MetricsTaken> AppendMetrics(Transaction& transaction, const Key& run,
                                   std::span<const MetricBatch> batches) {
  STROBE_RETURN_IF_ERROR(transaction.Get<Run>(run).status());
  MetricsTaken taken;
  std::optional<int64_t> curves;
  for (const MetricBatch& batch : batches) {
    if (batch.points.empty()) continue;
    const auto size = static_cast<int64_t>(batch.points.size());
    if (!IsAllowed(batch)) {
      taken.refused += size;
      continue;
    }
    MetricCurve curve;
    curve.project = run.project;
    curve.location = run.location;
    curve.run = run.id;
    curve.id = CurveId(batch);
    STROBE_ASSIGN_OR_RETURN(std::optional<MetricCurve> there,
                            transaction.Find<MetricCurve>(curve.key()));
    const bool fresh = !there;
    if (fresh) {
      if (!curves) {
        STROBE_ASSIGN_OR_RETURN(curves, CountOfRun(transaction, "metric_curves", run));
      }
      if (*curves >= kMaxCurvesPerRun) {
        taken.refused += size;
        continue;
      }
      ++*curves;
      curve.name = batch.name;
      curve.host = batch.host;
      curve.labels = LabelsJson(batch.labels);
    }
    if (there) curve = *std::move(there);
    if (!batch.unit.empty()) curve.unit = batch.unit;
    CurveWriter writer(transaction, std::move(curve));
    STROBE_RETURN_IF_ERROR(writer.Append(batch.points, &taken));
    STROBE_RETURN_IF_ERROR(fresh ? transaction.Insert(writer.curve())
                                 : transaction.Update(writer.curve()));
  }
  return taken;
}

Result<std::vector<MetricCurve>> MetricCurvesOf(Transaction& transaction, const Key& run) {
  STROBE_RETURN_IF_ERROR(transaction.Get<Run>(run).status());
  return transaction.Select<MetricCurve>(std::string(kOfRun) + " ORDER BY name, labels, host",
                                         RunValues(run), kMaxCurvesPerRun);
}

Result<std::vector<StoredPoint>> PointsOf(Transaction& transaction, const MetricCurve& curve) {
  constexpr int64_t kMaxBlocks =
      kBlocksKept + kBlocksToCombine +
      static_cast<int64_t>(kMaxLevels) * (kCombinedBlocksKept + kBlocksToCombine);
  STROBE_ASSIGN_OR_RETURN(const std::vector<MetricBlock> blocks,
                          transaction.Select<MetricBlock>(
                              std::string(kOfRun) + " AND curve = ? ORDER BY level DESC, number",
                              {curve.project, curve.location, curve.run, curve.id}, kMaxBlocks));
  std::vector<StoredPoint> points;
  for (const MetricBlock& block : blocks) {
    STROBE_ASSIGN_OR_RETURN(const std::vector<StoredPoint> some,
                            DecodePoints(block.points, block.level > 0));
    points.insert(points.end(), some.begin(), some.end());
  }
  return points;
}

Result<int64_t> SetRunConfigs(Transaction& transaction, const Key& run,
                              const std::map<std::string, std::string>& configs) {
  STROBE_RETURN_IF_ERROR(transaction.Get<Run>(run).status());
  STROBE_ASSIGN_OR_RETURN(int64_t there, CountOfRun(transaction, "run_configs", run));
  int64_t taken = 0;
  for (const auto& [name, value] : configs) {
    if (name.empty() || !IsText(name, kMaxMetricNameBytes) || !IsText(value, kMaxConfigBytes)) {
      continue;
    }
    RunConfig config;
    config.project = run.project;
    config.location = run.location;
    config.run = run.id;
    config.id = name;
    config.update_unix_ns = transaction.clock().NowUnixNanos();
    config.value = value;
    STROBE_ASSIGN_OR_RETURN(const std::optional<RunConfig> old,
                            transaction.Find<RunConfig>(config.key()));
    if (!old && there >= kMaxConfigsPerRun) continue;
    if (!old) ++there;
    STROBE_RETURN_IF_ERROR(old ? transaction.Update(config) : transaction.Insert(config));
    ++taken;
  }
  return taken;
}

Result<std::vector<RunConfig>> RunConfigsOf(Transaction& transaction, const Key& run) {
  return transaction.Select<RunConfig>(std::string(kOfRun) + " ORDER BY id", RunValues(run),
                                       kMaxConfigsPerRun);
}

Status DeleteMetrics(Transaction& transaction, const Key& run) {
  STROBE_RETURN_IF_ERROR(transaction.DeleteChildren<MetricBlock>(run).status());
  STROBE_RETURN_IF_ERROR(transaction.DeleteChildren<MetricCurve>(run).status());
  return transaction.DeleteChildren<RunConfig>(run).status();
}

}  // namespace strobe::catalog
