// Where the device time goes, as a tree: programs, categories or framework scopes down to single ops, each with its time and how much
// of the device's peak it used.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ExportTable } from '../../export/model';
import { useExportable } from '../../export/registry';
import { TableExport } from '../../export/TableExport';
import { exactTime, formatBandwidth, formatCount, formatRate, formatShare, formatTime, inUnit, plural, timeUnit, unknown } from '../../format/format';
import { keyLabel } from '../../keys/table';
import { useKeys } from '../../keys/useKeys';
import { pushKeys, replaceKeys, useUrlKey } from '../../state/url';
import { exportUrl } from '../../tools/client';
import { opKey, parseOpKey } from '../../tools/drawerKeys';
import { setOption } from '../../tools/options';
import { useToolAnswer } from '../../tools/session';
import type { ToolBodyProps } from '../../tools/ToolPage';
import { categoryOf } from '../../theme/tokens';
import { Icon } from '../../ui/Icon';
import { MiddleText } from '../../ui/MiddleText';
import { Skeleton } from '../../ui/states';
import { useSize } from '../../ui/useSize';
import { alignProfiles, firstOpen, type Grouping, groupings, isOp, plainName, type ProfileNode, type ProfileSort, readProfile, rootOf, visibleRows } from './tree';
import './opprofile.css';

const groupingWords: Readonly<Record<Grouping, string>> = { program: 'By program', category: 'By category', provenance: 'By scope' };
const rowHeightPx = 28;
const spareRows = 12;

export default function OpProfileBody({ sessionId, tool, query, answer, options }: ToolBodyProps) {
  const asked = options.group_by ?? tool.options.find((one) => one.name === 'group_by')?.defaultValue ?? 'program';
  const grouping = (groupings as readonly string[]).includes(asked) ? (asked as Grouping) : 'program';
  const idle = useUrlKey('idle') === '1';
  const sort: ProfileSort = useUrlKey('sort') === 'wasted' ? 'wasted' : 'time';
  const text = useUrlKey('q') ?? '';
  const openKey = useUrlKey('open');
  const baseline = useUrlKey('b');
  const other = useToolAnswer(baseline ? tool.id : null, query, baseline ?? undefined);
  const root = useMemo(() => (answer ? readProfile(rootOf(answer.document, grouping, idle)) : null), [answer, grouping, idle]);
  const before = useMemo(() => (other.value ? readProfile(rootOf(other.value.document, grouping, idle)) : null), [other.value, grouping, idle]);
  const pairs = useMemo(() => (root && before ? alignProfiles(root, before) : null), [root, before]);
  const open = useMemo(() => new Set(openKey !== null ? openKey.split(',') : root ? firstOpen(root) : []), [openKey, root]);
  const rows = useMemo(() => (root ? visibleRows(root, open, sort, text) : []), [root, open, sort, text]);
  const setGrouping = (next: Grouping) => {
    const option = tool.options.find((one) => one.name === 'group_by') ?? { name: 'group_by', defaultValue: 'program' };
    pushKeys({ open: null });
    setOption(option, next);
  };
  return (
    <>
      {root && root.timePs > 0 && <Totals root={root} before={before} device={deviceType(answer?.document)} />}
      <section className="panel data-panel profile-panel" aria-label="Op profile">
        <header className="table-bar">
          <div className="tool-tabs" role="group" aria-label="Grouping">
            {groupings.map((one) => (
              <button key={one} type="button" aria-pressed={one === grouping} onClick={() => setGrouping(one)}>
                {groupingWords[one]}
              </button>
            ))}
          </div>
          <Find text={text} />
          <label className="option check">
            <input type="checkbox" checked={idle} onChange={() => pushKeys({ idle: idle ? null : '1', open: null })} />
            Count idle time
          </label>
          <span className="aside">
            {root && text === '' && (
              <button type="button" className="button plain small" onClick={() => pushKeys({ open: open.size > 0 ? 'none' : root.children.map((one) => one.path).join(',') })}>
                {open.size > 0 ? 'Fold all' : 'Unfold'}
              </button>
            )}
            {rows.length > 0 && <TableExport table={() => treeTable(rows)} />}
            <a className="button plain small" href={exportUrl(sessionId, tool.id, query, 'json', [])} target="_blank" rel="noreferrer">
              JSON
            </a>
          </span>
        </header>
        {root ? <Tree root={root} rows={rows} open={open} sort={sort} pairs={pairs} searching={text !== ''} /> : answer ? <p className="panel-note">No device op was recorded.</p> : <div className="chart"><Skeleton width="100%" height={240} /></div>}
      </section>
    </>
  );
}

function deviceType(document: unknown): string {
  return typeof document === 'object' && document !== null && 'deviceType' in document ? String((document as { deviceType: unknown }).deviceType) : '';
}

function Totals({ root, before, device }: { root: ProfileNode; before: ProfileNode | null; device: string }) {
  const seconds = root.timePs / 1e12;
  const delta = before ? root.timePs - before.timePs : null;
  return (
    <section className="panel kpis four" aria-label="Totals">
      <div className="kpi" title={exactTime(root.timePs)}>
        <div className="label">Device time, all cores</div>
        <div className="kpi-value">{formatTime(root.timePs)}</div>
        <div className="kpi-note truncate">{delta !== null && before ? `${delta > 0 ? '+' : '\u2212'}${formatTime(Math.abs(delta))} against ${formatTime(before.timePs)}` : device ? `${device}, idle ${root.children.some((one) => one.name === 'IDLE') ? 'counted' : 'left out'}` : ''}</div>
      </div>
      <div className="kpi" title={`${formatRate(seconds > 0 ? root.flopCount / seconds : null)} on average`}>
        <div className="label">Of peak FLOP rate</div>
        <div className="kpi-value">{root.flopCount > 0 ? formatShare(root.flops) : unknown}</div>
        <div className="kpi-note truncate">{root.flopCount > 0 ? `${formatRate(seconds > 0 ? root.flopCount / seconds : null)} while busy` : 'the profile counts no FLOPs'}</div>
      </div>
      <div className="kpi">
        <div className="label">Of peak HBM bandwidth</div>
        <div className="kpi-value">{root.byteCount > 0 ? formatShare(root.bandwidth) : unknown}</div>
        <div className="kpi-note truncate">{root.byteCount > 0 ? `${formatBandwidth(seconds > 0 ? root.byteCount / seconds : null)} while busy` : 'the profile counts no bytes'}</div>
      </div>
      <div className="kpi" title="Time that would be saved if every op reached the peak of what it uses best">
        <div className="label">Below the roof</div>
        <div className="kpi-value">{formatTime(root.wastedPs)}</div>
        <div className="kpi-note truncate">{root.flopCount > 0 || root.byteCount > 0 ? `${formatShare(root.timePs > 0 ? root.wastedPs / root.timePs : null)} of the time could be saved at most` : 'not known without FLOPs and bytes'}</div>
      </div>
    </section>
  );
}

function Find({ text }: { text: string }) {
  const input = useRef<HTMLInputElement>(null);
  useKeys({ 'app.find': () => input.current?.focus() });
  return (
    <label className="filter">
      <input
        ref={input} className="input small" type="search" value={text} placeholder={`Find (${keyLabel('app.find')})`} aria-label="Find in the tree" spellCheck={false}
        onChange={(event) => replaceKeys({ q: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' && event.key !== 'Enter') return;
          if (event.key === 'Escape' && text) replaceKeys({ q: null });
          else input.current?.blur();
          event.preventDefault();
          event.nativeEvent.stopImmediatePropagation();
        }}
      />
    </label>
  );
}

interface TreeProps {
  root: ProfileNode;
  rows: readonly ProfileNode[];
  open: ReadonlySet<string>;
  sort: ProfileSort;
  pairs: ReadonlyMap<string, ProfileNode> | null;
  searching: boolean;
}

function Tree({ root, rows, open, sort, pairs, searching }: TreeProps) {
  const [sizeRef, size] = useSize<HTMLDivElement>({ width: 900, height: 400 });
  const exportRef = useExportable<HTMLDivElement>(() => ({ kind: 'table', table: treeTable(rows) }));
  const ref = useCallback(
    (element: HTMLDivElement | null) => {
      sizeRef(element);
      exportRef(element);
    },
    [sizeRef, exportRef],
  );
  const view = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [cursor, setCursor] = useState(-1);
  const op = parseOpKey(useUrlKey('op'));
  const unit = timeUnit(Math.max(...root.children.map((one) => one.timePs), 1));
  const toggle = (node: ProfileNode, to?: boolean) => {
    if (node.children.length === 0 || searching) return;
    const next = new Set(open);
    next.delete('none');
    if (to ?? !next.has(node.path)) next.add(node.path);
    else for (const path of [...next]) if (path === node.path || path.startsWith(node.path + '.')) next.delete(path);
    pushKeys({ open: next.size > 0 ? [...next].join(',') : 'none' });
  };
  const show = (node: ProfileNode, replace = false) => {
    if (!isOp(node)) return toggle(node);
    const keys = { op: opKey(node.programId, plainOp(node)) };
    if (replace) replaceKeys(keys);
    else pushKeys(keys);
  };
  const move = (to: number) => {
    if (rows.length === 0) return;
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setCursor(next);
    const box = view.current;
    if (box) {
      const y = next * rowHeightPx;
      if (y < box.scrollTop) box.scrollTop = y;
      else if (y + 2 * rowHeightPx > box.scrollTop + size.height) box.scrollTop = y + 2 * rowHeightPx - size.height;
    }
    if (op && isOp(rows[next]!)) show(rows[next]!, true);
  };
  useKeys({
    'list.next': () => move(cursor + 1),
    'list.previous': () => move(cursor < 0 ? 0 : cursor - 1),
    'list.first': () => move(0),
    'list.last': () => move(rows.length - 1),
    'list.open': () => (rows[cursor] ? show(rows[cursor]!) : false),
    'list.unfold': () => (rows[cursor] ? toggle(rows[cursor]!, true) : false),
    'list.fold': () => {
      const node = rows[cursor];
      if (!node) return false;
      if (open.has(node.path)) return toggle(node, false);
      const parent = node.path.slice(0, Math.max(0, node.path.lastIndexOf('.')));
      const at = rows.findIndex((one) => one.path === parent);
      if (at >= 0) move(at);
      return true;
    },
  });
  useEffect(() => {
    if (cursor >= rows.length) setCursor(rows.length - 1);
  }, [rows.length, cursor]);
  const first = Math.max(0, Math.floor(top / rowHeightPx) - spareRows);
  const last = Math.min(rows.length, Math.ceil((top + size.height) / rowHeightPx) + spareRows);
  const compare = pairs !== null;
  const className = compare ? 'profile-row compare' : 'profile-row';
  const sortButton = (kind: ProfileSort, label: string) => (
    <button type="button" onClick={() => pushKeys({ sort: kind === 'time' ? null : kind })}>
      {label}
      {sort === kind && <Icon name="down" />}
    </button>
  );
  return (
    <div className="data-view-frame" ref={ref}>
      <div className="data-view" ref={view} role="treegrid" aria-label="Op profile" tabIndex={0} aria-rowcount={rows.length + 1} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div role="row" className={`${className} head`}>
          <span role="columnheader">Name</span>
          <span role="columnheader" className="number" aria-sort={sort === 'time' ? 'descending' : 'none'}>{sortButton('time', 'Share')}</span>
          <span role="columnheader" className="number">Time, {unit.name}</span>
          {compare && <span role="columnheader" className="number">Difference</span>}
          <span role="columnheader" className="number" aria-sort={sort === 'wasted' ? 'descending' : 'none'} title="Time that would be saved at the peak of what the op uses best">{sortButton('wasted', `Below roof, ${unit.name}`)}</span>
          <span role="columnheader" className="number" title="Share of the peak FLOP rate while it ran">FLOP rate</span>
          <span role="columnheader" className="number" title="Share of the peak HBM bandwidth while it ran">HBM</span>
          <span role="columnheader" className="number">Runs</span>
          <span role="columnheader" className="number">Mean</span>
        </div>
        <div role="rowgroup" className="data-body" style={{ height: rows.length * rowHeightPx }}>
          {rows.slice(first, last).map((node, i) => {
            const at = first + i;
            const unfolded = searching ? node.children.length > 0 : open.has(node.path);
            return (
              <div
                key={node.path} role="row" aria-level={node.depth} aria-expanded={node.children.length > 0 ? unfolded : undefined} aria-rowindex={at + 2} aria-selected={at === cursor}
                className={`${className}${at === cursor ? ' current' : ''}`}
                style={{ transform: `translateY(${at * rowHeightPx}px)` }}
                onClick={() => {
                  setCursor(at);
                  show(node);
                }}
              >
                <NameCell node={node} unfolded={unfolded} onToggle={() => toggle(node)} />
                <BarCell share={node.share} />
                <span role="cell" className="number" title={exactTime(node.timePs)}>{inUnit(node.timePs, unit)}</span>
                {compare && <DeltaCell node={node} before={pairs.get(node.path) ?? null} unit={unit} />}
                <span role="cell" className="number" title={exactTime(node.wastedPs)}>{node.flopCount > 0 || node.byteCount > 0 ? inUnit(node.wastedPs, unit) : unknown}</span>
                <HeatCell share={node.flopCount > 0 ? node.flops : null} none={node.flopCount === 0} />
                <HeatCell share={node.byteCount > 0 ? node.bandwidth : null} none={node.byteCount === 0} />
                <span role="cell" className="number">{node.count > 0 ? formatCount(node.count) : ''}</span>
                <span role="cell" className="number">{node.count > 0 ? formatTime(node.meanPs) : ''}</span>
              </div>
            );
          })}
        </div>
        {rows.length === 0 && <p className="data-none muted">{searching ? 'Nothing in the tree has this in its name, category, scope or source.' : 'The tree is empty: no device op was recorded.'}</p>}
      </div>
    </div>
  );
}

// The rows of the tree that are unfolded; the depth of each says where it belongs.
function treeTable(rows: readonly ProfileNode[]): ExportTable {
  const time = (value: unknown) => formatTime(value as number | null);
  const share = (value: unknown) => formatShare(value as number | null);
  return {
    title: 'Op profile',
    columns: [
      { id: 'depth', label: 'Depth', type: 'number', whole: true },
      { id: 'name', label: 'Name', type: 'string' },
      { id: 'share', label: 'Share', type: 'number', format: share },
      { id: 'time_ps', label: 'Time', type: 'number', format: time },
      { id: 'below_roof_ps', label: 'Below roof', type: 'number', format: time },
      { id: 'of_peak_flop_rate', label: 'FLOP rate', type: 'number', format: share },
      { id: 'of_peak_hbm', label: 'HBM', type: 'number', format: share },
      { id: 'runs', label: 'Runs', type: 'number', whole: true },
      { id: 'mean_ps', label: 'Mean', type: 'number', format: time },
      { id: 'category', label: 'Category', type: 'string' },
      { id: 'source', label: 'Source', type: 'string' },
    ],
    rows: rows.map((node) => {
      const counted = node.flopCount > 0 || node.byteCount > 0;
      return [node.depth, node.name, node.share, node.timePs, counted ? node.wastedPs : null, node.flopCount > 0 ? node.flops : null, node.byteCount > 0 ? node.bandwidth : null, node.count, node.count > 0 ? node.meanPs : null, node.category || null, node.source || null];
    }),
  };
}

function plainOp(node: ProfileNode): string {
  return node.name.replace(/ and its duplicate\(s\)$/, '');
}

function NameCell({ node, unfolded, onToggle }: { node: ProfileNode; unfolded: boolean; onToggle: () => void }) {
  const category = categoryOf(node.category || node.name);
  const leaf = node.children.length === 0;
  return (
    <span role="cell" className="profile-name" style={{ paddingLeft: 8 + (node.depth - 1) * 18 }} title={[node.name, node.provenance, node.source].filter(Boolean).join('\n')}>
      {leaf ? (
        <span className="fold-space" />
      ) : (
        <button
          type="button" className="fold" tabIndex={-1} aria-label={unfolded ? 'Fold' : 'Unfold'}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <Icon name={unfolded ? 'chevron' : 'right'} />
        </button>
      )}
      <span className={`swatch cat-${category.key}`} style={{ backgroundColor: `var(--cat-${category.key})`, borderColor: `var(--cat-${category.key}-edge)` }} aria-hidden="true" />
      <MiddleText text={node.name === 'IDLE' ? 'Idle' : plainName(node.name)} className={isOp(node) ? 'mono middle' : 'middle strong'} />
      {!leaf && <span className="muted nowrap">{plural(node.children.length + node.leftOut, 'part')}{node.leftOut > 0 && `, ${node.leftOut} left out`}</span>}
      {leaf && node.source && <span className="muted mono nowrap profile-source">{node.source.slice(node.source.lastIndexOf('/') + 1)}</span>}
    </span>
  );
}

function BarCell({ share }: { share: number }) {
  return (
    <span role="cell" className="number">
      <span className="cell-bar">
        <span className="track" aria-hidden="true">
          <span style={{ width: `${Math.min(1, share) * 100}%` }} />
        </span>
        <span>{formatShare(share)}</span>
      </span>
    </span>
  );
}

const heatSteps = 6;

function HeatCell({ share, none }: { share: number | null; none: boolean }) {
  if (share === null) return <span role="cell" className="number muted" title={none ? 'The profile counts none for it' : undefined}>{unknown}</span>;
  const index = Math.min(heatSteps - 1, Math.floor(Math.min(1, share) * heatSteps));
  return (
    <span role="cell" className="number" title={`${share * 100} %`}>
      <span className="heat-dot" style={{ backgroundColor: `var(--heat-${index})` }} aria-hidden="true" />
      {formatShare(share)}
    </span>
  );
}

function DeltaCell({ node, before, unit }: { node: ProfileNode; before: ProfileNode | null; unit: ReturnType<typeof timeUnit> }) {
  if (!before) return <span role="cell" className="number muted">new</span>;
  const delta = node.timePs - before.timePs;
  if (delta === 0) return <span role="cell" className="number muted">0</span>;
  const word = delta > 0 ? 'worse' : 'better';
  return (
    <span role="cell" className="number" title={`${formatTime(before.timePs)} in the baseline, ${before.timePs > 0 ? formatShare(delta / before.timePs) : ''}`}>
      <span className={`delta ${word}`} aria-label={`${formatTime(Math.abs(delta))} ${word}`}>
        <Icon name={delta > 0 ? 'up' : 'down'} />
        {delta > 0 ? '+' : ''}
        {inUnit(delta, unit)}
      </span>
    </span>
  );
}

