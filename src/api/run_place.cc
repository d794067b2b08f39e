#include "src/api/run_place.h"

#include <algorithm>
#include <filesystem>

#include "src/storage/place.h"

namespace strobe::api {

Result<std::string> PlaceBelowRoots(engine::Engine& engine, const std::string& storage_path) {
  const bool bucket = storage::IsBucketPlace(storage_path);
  if (!bucket && storage_path.find("://") != std::string::npos) {
    return UnimplementedError("STORAGE_NOT_SUPPORTED", "This storage is not looked into.")
        .Where(storage_path.substr(0, 200))
        .Hint("Use a directory or a bucket (s3://, gs://) below one of the server's roots.");
  }
  std::error_code error;
  std::string real =
      bucket ? storage_path : std::filesystem::weakly_canonical(storage_path, error).string();
  while (real.size() > 1 && real.ends_with('/')) real.pop_back();
  const std::vector<std::string>& roots = engine.options().roots;
  const bool inside =
      !error && std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
        return real == root || real.starts_with(root.ends_with('/') ? root : root + "/");
      });
  if (inside) return real;
  return FailedPreconditionError("STORAGE_OUTSIDE_ROOTS",
                                 "The run's profiles lie outside of what this server shows.")
      .Where(storage_path.substr(0, 200))
      .Hint("Start the server with a directory or bucket above it.");
}

}  // namespace strobe::api
