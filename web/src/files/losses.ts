// The completeness record in plain sentences: one for each kind of loss, none when nothing is missing.
import type { Completeness, HostCompleteness } from '../api/types';
import { formatBytes, formatCount, plural } from '../format/format';

export interface Loss {
  readonly text: string;
  readonly host: string | null;
  readonly severe: boolean; // Data is missing; otherwise something only looks odd.
}

/** A kind of odd event that the record counts: in our words for one and for many, and the words in which the server gives it as a reason. */
interface CountedKind {
  readonly count: (host: HostCompleteness) => number | null;
  readonly one: string;
  readonly many: string;
  readonly reason: RegExp;
  readonly severe: boolean;
}

const countedKinds: readonly CountedKind[] = [
  { count: (host) => host.missing_metadata, one: 'has no name in the file', many: 'have no name in the file', reason: /^without a name\b/, severe: true },
  {
    count: (host) => host.events_saturated ?? null, one: 'has a time beyond what can be counted and was cut', many: 'have times beyond what can be counted and were cut',
    reason: /^outside the range of time\b/, severe: true,
  },
  {
    count: (host) => host.events_beyond_window, one: 'lies more than a second outside the recorded window', many: 'lie more than a second outside the recorded window',
    reason: /\boutside the window\b/, severe: false,
  },
  {
    count: (host) => host.events_overlapping, one: 'begins inside another event and outlives it, on a line where events can only follow or nest',
    many: 'begin inside another event and outlive it, on lines where events can only follow or nest', reason: /\boutlive it\b/, severe: false,
  },
  {
    count: (host) => host.events_negative, one: 'begins before time zero or has a negative length', many: 'begin before time zero or have a negative length',
    reason: /^with a negative duration\b/, severe: false,
  },
  {
    count: (host) => host.events_out_of_order, one: 'was stored out of order and has been sorted', many: 'were stored out of order and have been sorted',
    reason: /^written out of order\b/, severe: false,
  },
];

function lossesOfHost(host: HostCompleteness): Loss[] {
  const losses: Loss[] = [];
  const add = (text: string, severe: boolean) => losses.push({ text: `${host.host}: ${text}.`, host: host.host, severe });
  if (host.state === 'writing') {
    add('still being written', true);
  } else if (host.readable_bytes < host.size_bytes) {
    add(host.readable_bytes === 0 ? `none of ${formatBytes(host.size_bytes)} could be read` : `cut off after ${formatBytes(host.readable_bytes)} of ${formatBytes(host.size_bytes)}`, true);
  } else if (host.state === 'damaged') {
    add('damaged, nothing of it could be read', true);
  }
  for (const text of host.errors) add(`the profiler reported: ${text.replace(/\.$/, '')}`, true);
  for (const kind of countedKinds) {
    const count = kind.count(host);
    if (count !== null && count > 0) add(`${plural(count, 'event')} ${count === 1 ? kind.one : kind.many}`, kind.severe);
  }
  for (const text of host.warnings) add(`the profiler warned: ${text.replace(/\.$/, '')}`, false);
  return losses;
}

/** Whether what we say of a host says this reason of the server too; `words` are those after the host's name. */
function isToldOf(host: HostCompleteness, words: string, losses: readonly Loss[]): boolean {
  const counted = /^[\d,]+ events? (.*)$/.exec(words);
  if (counted !== null) return countedKinds.some((kind) => kind.reason.test(counted[1]!) && (kind.count(host) ?? 0) > 0);
  if (/^the profiler reports (an error|errors)\b/.test(words)) return host.errors.length > 0;
  if (/^the profiler reports (a warning|warnings)\b/.test(words)) return host.warnings.length > 0;
  // What else is wrong with a file is told by how much of it could be read, and place by place in the table of the damage.
  return losses.some((loss) => loss.host === host.host && loss.severe);
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
    const told = host ? isToldOf(host, reason.slice(host.host.length + 1).trim(), losses) : losses.some((loss) => loss.text.startsWith(reason));
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

/** Nothing of the file is missing, damaged or still to come. Bytes alone do not tell: of a packed file the unpacked ones are counted. */
function isWhole(host: HostCompleteness): boolean {
  return host.state === 'complete' && host.damage.length === 0 && host.readable_bytes >= host.size_bytes;
}

// "871 KiB, all readable"; else how much of it can be read, where bytes tell, and what is wrong with how many of the files.
export function sizeSentence(record: Completeness): string {
  const size = record.hosts.reduce((n, host) => n + host.size_bytes, 0);
  if (record.hosts.length === 0) return 'no file';
  const flawed = record.hosts.filter((host) => !isWhole(host));
  if (flawed.length === 0) return record.state === 'complete' ? `${formatBytes(size)}, all readable` : formatBytes(size);
  const readable = record.hosts.reduce((n, host) => n + Math.min(host.readable_bytes, host.size_bytes), 0);
  const parts = [readable < size ? `${formatBytes(readable)} of ${formatBytes(size)} readable` : formatBytes(size)];
  const counted = new Set<HostCompleteness>();
  const say = (words: string, is: (host: HostCompleteness) => boolean): void => {
    const those = flawed.filter((host) => !counted.has(host) && is(host));
    those.forEach((host) => counted.add(host));
    if (those.length > 0) parts.push(record.hosts.length === 1 ? words : `${formatCount(those.length)} of ${plural(record.hosts.length, 'file')} ${words}`);
  };
  say('still being written', (host) => host.state === 'writing');
  say('not read yet', (host) => host.state === 'unread');
  say('damaged', (host) => host.state === 'damaged' || host.state === 'empty');
  say('partial', () => true);
  return parts.join(', ');
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
  if (record.hosts_expected !== null) return `${formatCount(record.hosts_received)} of ${plural(record.hosts_expected, 'host')} received`;
  const reason = record.hosts_expected_reason ? `; ${asClause(record.hosts_expected_reason)}` : '';
  return `${plural(record.hosts_received, 'host')} received${reason}`;
}
