// The completeness record in plain sentences: one for each kind of loss, none when nothing is missing.
import type { Completeness, HostCompleteness } from '../api/types';
import { formatBytes, formatCount, plural } from '../format/format';

export interface Loss {
  readonly text: string;
  readonly host: string | null;
  readonly severe: boolean; // Data is missing; otherwise something only looks odd.
}

function countLoss(count: number | null, one: string, many: string): string | null {
  if (count === null || count === 0) return null;
  return count === 1 ? `1 ${one}` : `${formatCount(count)} ${many}`;
}

function lossesOfHost(host: HostCompleteness): Loss[] {
  const losses: Loss[] = [];
  const add = (text: string | null, severe: boolean) => text !== null && losses.push({ text: `${host.host}: ${text}.`, host: host.host, severe });
  if (host.readable_bytes < host.size_bytes) {
    add(host.readable_bytes === 0 ? `none of ${formatBytes(host.size_bytes)} could be read` : `cut off after ${formatBytes(host.readable_bytes)} of ${formatBytes(host.size_bytes)}`, true);
  } else if (host.state === 'damaged') {
    add('damaged, nothing of it could be read', true);
  }
  for (const text of host.errors) add(`the profiler reported: ${text.replace(/\.$/, '')}`, true);
  add(countLoss(host.missing_metadata, 'event has no name in the file', 'events have no name in the file'), true);
  add(countLoss(host.events_saturated ?? null, 'event has a time beyond what can be counted and was cut', 'events have times beyond what can be counted and were cut'), true);
  add(countLoss(host.events_beyond_window, 'event lies outside the recorded window', 'events lie outside the recorded window'), false);
  add(countLoss(host.events_overlapping, 'event overlaps its neighbour impossibly', 'events overlap their neighbours impossibly'), false);
  add(countLoss(host.events_negative, 'event begins before time zero or has a negative length', 'events begin before time zero or have a negative length'), false);
  add(countLoss(host.events_out_of_order, 'event was stored out of order and has been sorted', 'events were stored out of order and have been sorted'), false);
  for (const text of host.warnings) add(`the profiler warned: ${text.replace(/\.$/, '')}`, false);
  return losses;
}

export function lossesOf(record: Completeness): Loss[] {
  const losses: Loss[] = [];
  if (record.hosts_expected !== null && record.hosts_received < record.hosts_expected) {
    const missing = record.hosts_expected - record.hosts_received;
    losses.push({ text: `${plural(missing, 'host')} of ${formatCount(record.hosts_expected)} did not deliver a profile.`, host: null, severe: true });
  }
  for (const host of record.hosts) losses.push(...lossesOfHost(host));
  // A reason of the server that no host entry explains must not get lost.
  for (const reason of record.reasons) {
    const host = record.hosts.find((one) => reason.startsWith(one.host + ':'));
    const told = host ? losses.some((loss) => loss.host === host.host && loss.severe) : losses.some((loss) => loss.text.startsWith(reason));
    if (!told) losses.push({ text: /[.!?]$/.test(reason) ? reason : reason + '.', host: host?.host ?? null, severe: record.state !== 'complete' });
  }
  return losses.sort((a, b) => Number(b.severe) - Number(a.severe));
}

export function sum(record: Completeness, pick: (host: HostCompleteness) => number | null): number | null {
  let total = 0;
  for (const host of record.hosts) {
    const value = pick(host);
    if (value === null) return null;
    total += value;
  }
  return record.hosts.length > 0 ? total : null;
}

// "26,723 events in 140 lines of 9 planes from 2 hosts"
export function whatArrived(record: Completeness): string {
  const events = sum(record, (host) => host.events);
  const lines = sum(record, (host) => host.lines);
  const planes = sum(record, (host) => host.planes);
  const hosts = plural(record.hosts_received, 'host');
  if (events === null || lines === null || planes === null) return `Files of ${hosts}`;
  return `${plural(events, 'event')} in ${plural(lines, 'line')} of ${plural(planes, 'plane')} from ${hosts}`;
}

// A sentence of the server inside one of ours: no capital, no full stop. Names and abbreviations keep their capitals.
export function asClause(text: string): string {
  const clause = text.replace(/[.\s]+$/, '');
  return /^[A-Z][a-z]*\b/.test(clause) ? clause[0]!.toLowerCase() + clause.slice(1) : clause;
}

export function hostsSentence(record: Completeness): string {
  if (record.hosts_expected !== null) return `${formatCount(record.hosts_received)} of ${formatCount(record.hosts_expected)} hosts received`;
  const reason = record.hosts_expected_reason ? `; ${asClause(record.hosts_expected_reason)}` : '';
  return `${plural(record.hosts_received, 'host')} received${reason}`;
}
