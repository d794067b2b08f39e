// What jobs export by gRPC, asked through the same routes as by HTTP: one place decides who may
// write where, and one place writes.
//
//   ExportReply reply = AnswerExport(router, ids, secure, call, /*peer=*/"");
//
// Known: OTLP's MetricsService and LogsService, and WriteLogEntries of Google's logging service.
// The caller's authorization goes along. Anything else is UNIMPLEMENTED. Thread-safe.
#pragma once

#include "src/api/router.h"
#include "src/base/ids.h"
#include "src/capture/export_receiver.h"

namespace strobe::api {

// `secure`: the call came by TLS. `peer`: whose call it is, when not that of the connection.
capture::ExportReply AnswerExport(const Router& router, const IdMaker& ids, bool secure,
                                  const capture::ExportCall& call, const std::string& peer);

}  // namespace strobe::api
