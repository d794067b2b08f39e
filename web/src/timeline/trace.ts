// How far a session reaches: its recorded window and every event, whichever goes further.
//
// A profiler's window says when it was switched on and off; what ran at that moment began before or ends after. Such events must be
// reachable like all others, so the timeline goes from the first start to the last end.

import type { LinesAnswer } from './model';
import type { TimeSpan } from './view';

/** What the profile says of when it was recorded; at least a picosecond long. */
export function recordedSpan({ window }: LinesAnswer): TimeSpan {
  return { startPs: window.start_ps, endPs: Math.max(window.start_ps + 1, window.end_ps) };
}

/** Lines that are not decoded yet, or hold nothing, do not count; times that a number cannot hold exactly are garbage and do not stretch it. */
export function wholeSpan(answer: LinesAnswer): TimeSpan {
  let { startPs, endPs } = recordedSpan(answer);
  for (const line of answer.hosts.flatMap((host) => host.planes).flatMap((plane) => plane.lines)) {
    if (line.event_count === 0) continue;
    if (Number.isSafeInteger(line.start_ps)) startPs = Math.min(startPs, line.start_ps!);
    if (Number.isSafeInteger(line.end_ps)) endPs = Math.max(endPs, line.end_ps!);
  }
  return { startPs, endPs };
}
