#include "src/xplane/session_files.h"

#include <algorithm>
#include <utility>

namespace strobe::xplane {
namespace {

struct Suffix {
  std::string_view text;
  FileFormat format;
};
// Longer ones first where one ends like another.
constexpr Suffix kSuffixes[] = {
    {".xplane.pb", FileFormat::kXplane},
    {".xplane.pb.gz", FileFormat::kXplaneGzip},
    {".xplane.pb.zst", FileFormat::kXplaneZstd},
    {".xplane.pb.xz", FileFormat::kXplaneXz},
    {".xplane.riegeli", FileFormat::kRiegeli},
    {".trace.json.gz", FileFormat::kTraceJsonGzip},
    {".trace.json", FileFormat::kTraceJson},
    {".pftrace", FileFormat::kPerfetto},
    {".pftrace.gz", FileFormat::kPerfettoGzip},
    {".perfetto-trace", FileFormat::kPerfetto},
    {".perfetto-trace.gz", FileFormat::kPerfettoGzip},
};
// What xprof's client writes beside a remote capture: the same events again under this name.
constexpr std::string_view kConvertedTraceHost = "remote";

bool IsTrace(FileFormat format) {
  return format == FileFormat::kTraceJson || format == FileFormat::kTraceJsonGzip ||
         format == FileFormat::kPerfetto || format == FileFormat::kPerfettoGzip;
}

}  // namespace

bool ParseJsonName(std::string_view name, SessionFile* file) {
  if (name.starts_with('.')) return false;
  for (const Suffix& suffix :
       {Suffix{".json", FileFormat::kTraceJson}, Suffix{".json.gz", FileFormat::kTraceJsonGzip}}) {
    if (name.size() <= suffix.text.size() || !name.ends_with(suffix.text)) continue;
    file->host = name.substr(0, name.size() - suffix.text.size());
    file->format = suffix.format;
    return true;
  }
  return false;
}

bool ParseFileName(std::string_view name, SessionFile* file) {
  if (name.starts_with('.')) return false;
  for (const Suffix& suffix : kSuffixes) {
    if (name.size() <= suffix.text.size() || !name.ends_with(suffix.text)) continue;
    file->host = name.substr(0, name.size() - suffix.text.size());
    file->format = suffix.format;
    return true;
  }
  return false;
}

void SessionFiles::Add(SessionFile file) {
  any_xplane_ |= !IsTrace(file.format);
  const auto [found, inserted] = files_.try_emplace(file.host, file);
  if (inserted) return;
  const auto rank = [](const SessionFile& f) { return std::pair(f.size_bytes == 0, f.format); };
  if (rank(file) < rank(found->second)) found->second = std::move(file);
}

void SessionFiles::MoveInto(SessionEntry* entry) && {
  const auto converted = files_.find(std::string(kConvertedTraceHost));
  if (any_xplane_ && converted != files_.end() && IsTrace(converted->second.format)) {
    files_.erase(converted);
  }
  for (auto& [host, file] : files_) {
    entry->modified_unix_ns = std::max(entry->modified_unix_ns, file.modified_unix_ns);
    entry->size_bytes += file.size_bytes;
    entry->files.push_back(std::move(file));
  }
  files_.clear();
}

}  // namespace strobe::xplane
