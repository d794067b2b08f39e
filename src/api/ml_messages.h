// The messages of Google's ML Diagnostics API (v1alpha), as far as clients set them, and those of
// the SDK's self-hosted dialect.
//
//   NormalizeMessage(body, RunMessage());
//
// Facts only: names, types and enum words as they are on the wire. What the server alone sets
// (times, state, uris) is not here, so that it is ignored in what clients send.
#pragma once

#include "src/api/message.h"

namespace strobe::api {

const MessageSpec& RunMessage();
const MessageSpec& ProfilerTargetMessage();
const MessageSpec& ProfilerSessionMessage();
const MessageSpec& MonitoredEventMessage();
const MessageSpec& SelfHostedRunMessage();

}  // namespace strobe::api
