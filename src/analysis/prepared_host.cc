#include "src/analysis/prepared_host.h"

namespace strobe::analysis {

// Builds a PreparedHost.
class HostPreparer {
 public:
  static std::shared_ptr<PreparedHost> Make(std::shared_ptr<const void> owner,
                                            const xplane::ProfileFile& file) {
    std::shared_ptr<PreparedHost> host(new PreparedHost());
    host->owner_ = std::move(owner);
    host->file_ = &file;
    for (size_t p = 0; p < file.planes().size(); ++p) {
      PreparedPlane& plane = host->planes_.emplace_back();
      for (const xplane::Line& line : file.planes()[p].lines) {
        PreparedLine& prepared = plane.lines.emplace_back();
        prepared.id = line.id;
        prepared.display_id = line.display_id;
        prepared.name = line.name;
        prepared.display_name = line.display_name;
        prepared.timestamp_ns = line.timestamp_ns;
      }
    }
    return host;
  }
};

Result<std::shared_ptr<const PreparedHost>> PreparedHost::Prepare(std::shared_ptr<const void> owner,
                                                                  const xplane::ProfileFile& file,
                                                                  const PrepareOptions& options,
                                                                  const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(file.DecodeAll(cancel, nullptr));
  return std::shared_ptr<const PreparedHost>(HostPreparer::Make(std::move(owner), file));
}

uint64_t PreparedHost::resident_bytes() const { return 0; }

}  // namespace strobe::analysis
