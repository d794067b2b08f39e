// The whole completeness record: what arrived from which host, what is missing, and where the damage is.
import type { Completeness, Damage, HostCompleteness, SessionDetail } from '../api/types';
import { PanelTableExport } from '../export/TableExport';
import { byteUnit, exactBytes, exactCount, exactTime, formatCount, formatTime, inUnit, middleEllipsis, plural, unknown } from '../format/format';
import { Icon } from '../ui/Icon';
import { ErrorNotice, SkeletonRows, StateChip } from '../ui/states';
import { copyText } from '../ui/toasts';
import type { Resource } from '../ui/useResource';
import { hostsSentence, lossesOf, whatArrived } from './losses';
import './files.css';

interface FilesPageProps {
  detail: SessionDetail | null;
  completeness: Resource<Completeness>;
}

export function FilesPage({ detail, completeness }: FilesPageProps) {
  const record = completeness.value;
  return (
    <div className="page stack files" id="page" tabIndex={-1}>
      <div className="files-head">
        <h1>Files and completeness</h1>
        {detail && <StateChip state={detail.state} reason={detail.state_reason} />}
        {record && (
          <span className="muted truncate">
            {whatArrived(record)}. {hostsSentence(record)}.
          </span>
        )}
      </div>
      {completeness.error && !completeness.error.lostConnection && <ErrorNotice what="The completeness record could not be read." error={completeness.error} onRetry={completeness.reload} />}
      {record && <Losses record={record} />}
      <HostTable record={record} />
      {record && <DamageTable record={record} />}
      {record && <Messages record={record} />}
      {record && <EmptyPlanes record={record} />}
    </div>
  );
}

export function Losses({ record, most }: { record: Completeness; most?: number }) {
  const losses = lossesOf(record);
  if (losses.length === 0) {
    if (record.state === 'complete') return null;
    return (
      <div className="notice">
        <Icon name={record.state} />
        <div className="grow">{record.state === 'empty' ? 'The session directory holds no profile file.' : record.state === 'writing' ? 'A file of this session is still being written.' : 'No loss is recorded.'}</div>
      </div>
    );
  }
  const severe = losses.some((loss) => loss.severe);
  const shown = losses.slice(0, most ?? losses.length);
  return (
    <div className={severe ? 'notice lossy' : 'notice'} role="status">
      <Icon name={severe ? 'partial' : 'empty'} />
      <ul className="grow losses">
        {shown.map((loss, i) => (
          <li key={i} className={loss.severe ? 'warn' : 'text2'}>
            {loss.text}
          </li>
        ))}
        {shown.length < losses.length && <li className="muted">and {losses.length - shown.length} more, listed under Files</li>}
      </ul>
    </div>
  );
}

function HostTable({ record }: { record: Completeness | null }) {
  const unit = byteUnit(record ? Math.max(0, ...record.hosts.map((host) => host.size_bytes)) : 0);
  return (
    <section className="panel">
      <header>
        <h2>Hosts</h2>
        {record && <span className="aside">{plural(record.hosts.length, 'file')}<PanelTableExport title="Hosts" /></span>}
      </header>
      <div className="scroll-x">
        <table className="table" aria-label="Hosts">
          <colgroup>
            <col className="c-state" />
            <col className="c-host" />
            <col className="c-file" />
            <col className="c-bytes" />
            <col className="c-bytes" />
            <col className="c-count" />
            <col className="c-count" />
            <col className="c-count" />
            <col className="c-time" />
            <col className="c-time" />
            <col className="c-hash" />
          </colgroup>
          <thead>
            <tr>
              <th>State</th>
              <th>Host</th>
              <th className="c-file">File</th>
              <th className="number">Size, {unit.name}</th>
              <th className="number">Readable, {unit.name}</th>
              <th className="number">Planes</th>
              <th className="number">Lines</th>
              <th className="number">Events</th>
              <th className="number">Window</th>
              <th className="number">Clock</th>
              <th className="c-hash">Content hash</th>
            </tr>
          </thead>
          <tbody>
            {!record && <SkeletonRows rows={2} columns={[80, 90, 110, 50, 50, 30, 30, 50, 60, 50, 120]} />}
            {record?.hosts.length === 0 && (
              <tr>
                <td colSpan={11} className="muted">
                  No file of any host was found in this session.
                </td>
              </tr>
            )}
            {record?.hosts.map((host) => <HostRow key={host.file} host={host} unit={unit} />)}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function HostRow({ host, unit }: { host: HostCompleteness; unit: ReturnType<typeof byteUnit> }) {
  const cut = host.readable_bytes < host.size_bytes;
  const window = host.window;
  return (
    <tr>
      <td>
        <StateChip state={host.state} />
      </td>
      <td title={`${host.host}, ${host.file}, ${host.content_hash ?? 'hash not known'}`}>{host.host}</td>
      <td className="mono c-file" title={host.file}>
        {host.file}
      </td>
      <td className="number" title={exactBytes(host.size_bytes)}>
        {inUnit(host.size_bytes, unit)}
      </td>
      <td className={cut ? 'number warn' : 'number'} title={exactBytes(host.readable_bytes)}>
        {inUnit(host.readable_bytes, unit)}
      </td>
      <td className="number">{formatCount(host.planes)}</td>
      <td className="number">{formatCount(host.lines)}</td>
      <td className="number" title={exactCount(host.events)}>
        {formatCount(host.events)}
      </td>
      <td className="number" title={window ? `${exactTime(window.start_ps)} to ${exactTime(window.end_ps)}, from ${window.source}` : 'The file does not say when it was recorded.'}>
        {window ? formatTime(window.end_ps - window.start_ps) : unknown}
      </td>
      <td className="number" title={host.clock_offset_ps === null ? 'Not known' : `Shift against the session's origin: ${exactTime(host.clock_offset_ps)}`}>
        {formatTime(host.clock_offset_ps)}
      </td>
      <td className="mono c-hash">
        {host.content_hash ? (
          <button type="button" className="copyable" title={`${host.content_hash} (click to copy)`} onClick={() => void copyText(host.content_hash!, 'Hash')}>
            {middleEllipsis(host.content_hash.replace(/^xxh3:/, ''), 18)}
          </button>
        ) : (
          unknown
        )}
      </td>
    </tr>
  );
}

function DamageTable({ record }: { record: Completeness }) {
  const rows: (Damage & { host: string })[] = record.hosts.flatMap((host) => host.damage.map((one) => ({ ...one, host: host.host })));
  if (rows.length === 0) return null;
  return (
    <section className="panel">
      <header>
        <h2>Damage</h2>
        <span className="aside">{plural(rows.length, 'place')}<PanelTableExport title="Damage" /></span>
      </header>
      <div className="scroll-x">
        <table className="table damage" aria-label="Damage">
          <colgroup>
            <col className="c-host" />
            <col className="c-offset" />
            <col className="c-plane" />
            <col className="c-plane" />
            <col className="c-name" />
            <col />
          </colgroup>
          <thead>
            <tr>
              <th>Host</th>
              <th className="number">Offset, B</th>
              <th>Plane</th>
              <th>Line</th>
              <th>Kind</th>
              <th>What was found</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={i}>
                <td>{row.host}</td>
                <td className="number">{row.offset_bytes === null ? unknown : exactCount(row.offset_bytes)}</td>
                <td className="mono" title={row.plane ?? undefined}>{row.plane ?? unknown}</td>
                <td className="mono" title={row.line ?? undefined}>{row.line ?? unknown}</td>
                <td className="mono" title={row.name}>{row.name}</td>
                <td className="wrap">{row.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Messages({ record }: { record: Completeness }) {
  const messages = record.hosts.flatMap((host) => [
    ...host.errors.map((text) => ({ host: host.host, text, severe: true })),
    ...host.warnings.map((text) => ({ host: host.host, text, severe: false })),
  ]);
  if (messages.length === 0) return null;
  return (
    <section className="panel">
      <header>
        <h2>Messages of the profiler</h2>
      </header>
      <ul className="plain-list">
        {messages.map((message, i) => (
          <li key={i}>
            <Icon name={message.severe ? 'damaged' : 'partial'} className={message.severe ? 'crit' : 'warn'} />
            <span className="text2">{message.host}</span>
            <span>{message.text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function EmptyPlanes({ record }: { record: Completeness }) {
  const hosts = record.hosts.filter((host) => host.empty_planes.length > 0);
  if (hosts.length === 0) return null;
  const count = hosts.reduce((n, host) => n + host.empty_planes.length, 0);
  return (
    <section className="panel">
      <header>
        <h2>Planes without events</h2>
        <span className="aside">{plural(count, 'plane')}. The profiler wrote them and put no event in.</span>
      </header>
      <ul className="plain-list">
        {hosts.map((host) => (
          <li key={host.file}>
            <span className="text2">{host.host}</span>
            <span className="mono">{host.empty_planes.join(', ')}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
