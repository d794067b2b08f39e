// Which names in a session's folder are profiles, and which of them make the session.
//
//   SessionFiles files;
//   SessionFile file;
//   if (ParseFileName("host.xplane.pb", &file)) files.Add(file);
//   std::move(files).MoveInto(&entry);
//
// The same for a directory and for a bucket. Of several forms of one host the first that is not
// empty counts, in the order of FileFormat; the trace that XProf's client writes beside a remote
// capture is left out.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "src/xplane/session.h"

namespace strobe::xplane {

// Splits a file name into host and format; false when it is no profile.
bool ParseFileName(std::string_view name, SessionFile* file);

// The same for NAME.json and NAME.json.gz, which may be a Chrome trace or anything else: who asks
// must look into it or have been told.
bool ParseJsonName(std::string_view name, SessionFile* file);

class SessionFiles {
 public:
  void Add(SessionFile file);
  bool empty() const { return files_.empty(); }
  // Adds them, their size and their newest time to the entry.
  void MoveInto(SessionEntry* entry) &&;

 private:
  std::map<std::string, SessionFile> files_;  // by host
  bool any_xplane_ = false;
};

}  // namespace strobe::xplane
