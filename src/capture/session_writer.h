// Puts a capture on disk: one new session directory in XProf's layout, a file for each host.
//
//   STROBE_ASSIGN_OR_RETURN(SessionWriter writer, SessionWriter::Prepare(root, run, session, ids));
//   const std::string name = writer.ClaimHostName(target, answer.hostnames, several_local);
//   STROBE_ASSIGN_OR_RETURN(std::string file, writer.SaveHost(name, chain, answer.xspace, tick));
//
// `<root>/<run>/plugins/profile/<session>/<host>.xplane.pb`. The session directory and those above
// it are made with the first file, the session's by us alone: one that is there already is never
// written into. Each file appears whole or not at all and replaces nothing. A capture that brought
// nothing, or was killed before its first file, leaves nothing: directories that this writer made
// and that are still empty go again.
// Cost: writing and one flush of each file. Single-threaded.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/capture/answer.h"
#include "src/capture/target.h"

namespace strobe::capture {

class SessionWriter {
 public:
  // Checks the names and that the directories above the session can be made and written to.
  // `session` empty: a new name.
  // Errors: CAPTURE_ROOT, CAPTURE_BAD_NAME, CAPTURE_SESSION_EXISTS.
  static Result<SessionWriter> Prepare(const std::string& root, const std::string& run,
                                       const std::string& session, const IdMaker& ids);

  // `<folder>/<session>/<host>.xplane.pb`: what is put into its place afterwards.
  static Result<SessionWriter> PrepareBare(const std::string& folder, const std::string& session,
                                           const IdMaker& ids);

  const std::string& session_name() const { return session_name_; }
  const std::string& session_path() const { return session_path_; }

  // The file's host name: the target's host; for a loopback target the name that the answering
  // machine gave itself, if it can be a file name. A name that is taken (or would be: with
  // `add_port`) gets the port behind it. Never the same name twice, whatever the answers say.
  std::string ClaimHostName(const Target& target, const std::vector<std::string>& answered,
                            bool add_port);

  // Returns the path below the root. `tick` is called every few megabytes.
  // Error: CAPTURE_NOT_SAVED.
  Result<std::string> SaveHost(const std::string& host_name, const ByteChain& chain,
                               const std::vector<ByteSpan>& spans,
                               const std::function<void()>& tick);

  // Takes away again what this writer made and nobody has put anything into: the session's
  // directory, then those above it up to the root. For after the last SaveHost.
  void RemoveIfEmpty();

 private:
  static Result<SessionWriter> PrepareIn(const std::string& root, const std::string& below_root,
                                         const std::string& session, const IdMaker& ids);
  SessionWriter(std::string parent, std::string below_root, const IdMaker& ids)
      : parent_(std::move(parent)), below_root_(std::move(below_root)), ids_(&ids) {}
  Status MakeSessionDirectory();
  void NameSession(const std::string& name);

  std::string parent_;      // <root>/<run>/plugins/profile
  std::string below_root_;  // the same, below the root
  const IdMaker* ids_;
  std::string session_name_;
  std::string session_path_;
  bool made_directory_ = false;
  std::vector<std::string> made_above_;  // not there before, the innermost first
  std::set<std::string> claimed_;        // lower case: some file systems do not tell them apart
};

}  // namespace strobe::capture
