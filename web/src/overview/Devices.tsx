// How busy each device was: a bar each, or one coloured cell each when there are many.
import { useRef } from 'react';
import type { Overview, OverviewDevice } from '../api/types';
import { ChartMenu } from '../charts/ChartFrame';
import type { ExportTable } from '../export/model';
import { exactTime, formatCount, formatShare, formatTime, plural, unknown } from '../format/format';
import { heat } from '../theme/tokens';
import { Skeleton } from '../ui/states';

const mostBars = 16;

export function deviceSummary(overview: Overview): { busy: string; text: string; title: string } {
  const shares = overview.devices.map((device) => device.busy_share).filter((share): share is number => share !== null);
  const busy = shares.length > 0 ? formatShare(shares.reduce((a, b) => a + b, 0) / shares.length) : unknown;
  if (overview.devices.length === 0) return { busy, text: 'no device in this profile', title: 'The profile holds no device plane: a CPU-only job, or device events were off.' };
  const names = [...new Set(overview.devices.map((device) => device.name ?? device.kind))];
  const idle = overview.devices.length - shares.length;
  const without = idle > 0 ? `, ${formatCount(idle)} not known` : '';
  return { busy, text: `${formatCount(overview.devices.length)} x ${names.slice(0, 2).join(', ')}${without}`, title: `Mean over ${plural(shares.length, 'device')} of the time with at least one operation running` };
}

function heatIndex(share: number): number {
  return Math.min(heat.length - 1, Math.floor(share * heat.length));
}

// worker-07.pretrain.example.com -> worker-07, when all hosts share the rest and stay different without it.
export function shortHosts(hosts: readonly string[]): Map<string, string> {
  const cut = hosts.map((host) => host.split('.')[0]!);
  const rest = hosts.map((host, i) => host.slice(cut[i]!.length));
  const shared = hosts.length > 1 && rest.every((text) => text === rest[0] && text !== '') && new Set(cut).size === hosts.length;
  return new Map(hosts.map((host, i) => [host, shared ? cut[i]! : host]));
}

function shortName(plane: string): string {
  return plane.replace(/^\/(device|host):/, '');
}

function deviceTitle(device: OverviewDevice): string {
  return `${device.host} ${device.plane}${device.name ? `, ${device.name}` : ''}: busy ${formatTime(device.busy_ps)} (${exactTime(device.busy_ps)})`;
}

export function Devices({ overview }: { overview: Overview | null }) {
  const devices = overview?.devices ?? [];
  const hosts = new Set(devices.map((device) => device.host));
  const frame = useRef<HTMLElement>(null);
  return (
    <section className="panel">
      <header>
        <h2>Devices</h2>
        {devices.length > 0 && (
          <span className="aside">
            {devices.length > mostBars ? <HeatLegend /> : 'busy share of the window'}
            <ChartMenu frame={frame} title="Devices busy" data={() => deviceTable(devices)} />
          </span>
        )}
      </header>
      {!overview && (
        <div className="strip-list">
          {[0, 1, 2, 3].map((i) => (
            <Skeleton key={i} width="100%" height={14} />
          ))}
        </div>
      )}
      {overview && devices.length === 0 && <p className="panel-note">The profile holds no device plane. It is from a CPU-only job, or it was captured with device events off.</p>}
      {devices.length > 0 && (
        <figure ref={frame} data-chart="Devices busy">
          {devices.length <= mostBars ? <Bars devices={devices} withHost={hosts.size > 1} /> : <Cells devices={devices} hosts={[...hosts]} />}
        </figure>
      )}
    </section>
  );
}

function deviceTable(devices: readonly OverviewDevice[]): ExportTable {
  return {
    title: 'Devices busy',
    columns: [
      { id: 'host', label: 'Host', type: 'string' },
      { id: 'device', label: 'Device', type: 'string' },
      { id: 'kind', label: 'Kind', type: 'string' },
      { id: 'busy_ps', label: 'Busy', type: 'number', whole: true, format: (value) => formatTime(value as number | null) },
      { id: 'busy_share', label: 'Share', type: 'number', format: (value) => formatShare(value as number | null) },
    ],
    rows: devices.map((device) => [device.host, device.plane, device.name ?? device.kind, device.busy_ps, device.busy_share]),
  };
}

function HeatLegend() {
  return (
    <span className="heat-legend" aria-label="Colour from 0 to 100 % busy">
      0
      <span className="ramp" aria-hidden="true">
        {heat.map((_, i) => (
          <span key={i} style={{ background: `var(--heat-${i})` }} />
        ))}
      </span>
      100 % busy
    </span>
  );
}

function Bars({ devices, withHost }: { devices: readonly OverviewDevice[]; withHost: boolean }) {
  const names = shortHosts([...new Set(devices.map((device) => device.host))]);
  return (
    <ul className="strip-list">
      {devices.map((device) => (
        <li key={device.host + device.plane} className="strip" title={deviceTitle(device)}>
          <span className="strip-name truncate">
            {withHost && <span className="muted">{names.get(device.host)} </span>}
            {shortName(device.plane)}
          </span>
          <span className="strip-bar">{device.busy_share !== null && <span style={{ width: `${Math.min(1, device.busy_share) * 100}%` }} />}</span>
          <span className="strip-share">{formatShare(device.busy_share)}</span>
        </li>
      ))}
    </ul>
  );
}

function Cells({ devices, hosts }: { devices: readonly OverviewDevice[]; hosts: readonly string[] }) {
  const names = shortHosts(hosts);
  return (
    <ul className="strip-list cells" tabIndex={0} aria-label="Busy share of each device, by host">
      {hosts.map((host) => (
        <li key={host} className="strip">
          <span className="strip-name truncate" title={host}>
            {names.get(host)}
          </span>
          <span className="cell-row">
            {devices
              .filter((device) => device.host === host)
              .map((device) => (
                <span key={device.plane} className={device.busy_share === null ? 'cell none' : 'cell'} title={deviceTitle(device)} style={device.busy_share === null ? undefined : { background: `var(--heat-${heatIndex(device.busy_share)})` }} />
              ))}
          </span>
        </li>
      ))}
    </ul>
  );
}
