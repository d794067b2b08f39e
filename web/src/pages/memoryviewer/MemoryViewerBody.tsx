// What fills memory at the peak of a compiled program, and why: programs by their peak, the heap along the program, owners, buffers
// with their lives, and the blocks they occupy.
import { useEffect, useMemo, useState } from 'react';
import { AreaChart } from '../../charts/AreaChart';
import { BlockMap } from '../../charts/BlockMap';
import { Treemap } from '../../charts/Treemap';
import { exactBytes, formatBytes, formatCount, formatShare, plural } from '../../format/format';
import { isAbort } from '../../api/client';
import { pushKeys, useUrlKey } from '../../state/url';
import { askTool } from '../../tools/client';
import { DataTable } from '../../tools/DataTable';
import { opKey } from '../../tools/drawerKeys';
import { optionKey } from '../../tools/options';
import { formatFilters, parseFilters } from '../../tools/rows';
import { once, useToolAnswer, useToolSession } from '../../tools/session';
import type { ToolBodyProps } from '../../tools/ToolPage';
import { findModule, type HloModuleName, moduleLabel, useModules } from '../../tools/useModules';
import { Icon } from '../../ui/Icon';
import { Menu } from '../../ui/Menu';
import { ErrorNotice, Select, Skeleton } from '../../ui/states';
import { type Heap, heapTable, ownerColour, ownersOf, readHeap } from './heap';
import './memoryviewer.css';

const preset = { columns: ['instruction', 'kind', 'size', 'share', 'padding', 'opcode', 'start', 'end', 'shape', 'source'], sort: '-size' };
const mostMeasured = 48; // Programs whose peak is asked for the list; beyond it they keep the order of the session.
const spaces = [
  { value: '0', label: 'HBM' },
  { value: '1', label: 'VMEM' },
  { value: '2', label: 'SMEM' },
  { value: '3', label: 'CMEM' },
  { value: '5', label: 'host' },
];

export default function MemoryViewerBody({ tool, query, options }: ToolBodyProps) {
  const modules = useModules();
  const wanted = useUrlKey(optionKey('module_name')) ?? useUrlKey(optionKey('program_id'));
  const space = options.memory_space ?? '0';
  const peaks = usePeaks(modules.value, space, wanted !== null);
  const chosen = findModule(modules.value ?? [], wanted) ?? (wanted === null ? largest(modules.value ?? [], peaks) : null);
  const answer = useToolAnswer(chosen ? tool.id : null, { hosts: query.hosts, options: { ...options, module_name: chosen?.full ?? '', memory_space: space } });
  const heap = useMemo(() => (answer.value ? readHeap(answer.value.document) : null), [answer.value]);
  const choose = (module: HloModuleName) => pushKeys({ [optionKey('module_name')]: module.full, [optionKey('program_id')]: null, op: null, buffer: null });
  if (!modules.value) return modules.error && !modules.error.lostConnection ? <ErrorNotice what="The programs of this session could not be listed." error={modules.error} onRetry={modules.reload} /> : <Skeleton width="100%" height={300} />;
  if (modules.value.length === 0) return tool.applies ? <p className="muted">The session holds no HLO module. Capture with enable_hlo_proto, or put *.hlo_proto.pb beside the profile.</p> : null;
  return (
    <>
      <div className="options-bar">
        <ModuleMenu modules={modules.value} peaks={peaks} chosen={chosen} onChoose={choose} />
        <label className="option">
          <span className="label">Memory</span>
          <Select value={space} choices={spaces} onChange={(value) => pushKeys({ [optionKey('memory_space')]: value === '0' ? null : value })} />
        </label>
        {chosen === null && wanted !== null && <span className="warn">No program of this session is called {wanted}.</span>}
        {chosen === null && wanted === null && <span className="muted">measuring programs, {formatCount(peaks.size)} of {formatCount(Math.min(mostMeasured, modules.value.length))}</span>}
      </div>
      {answer.error && !answer.error.lostConnection && <ErrorNotice what="The memory of this program could not be read." error={answer.error} onRetry={answer.reload} />}
      {!answer.value && (chosen !== null ? answer.loading : wanted === null) && <Skeleton width="100%" height={300} />}
      {answer.value && !heap && <p className="muted">The program holds no buffer assignment, so its heap is not known.</p>}
      {heap && <HeapPage heap={heap} module={chosen!} />}
    </>
  );
}

function largest(modules: readonly HloModuleName[], peaks: ReadonlyMap<string, number>): HloModuleName | null {
  const measured = modules.slice(0, mostMeasured);
  if (measured.some((one) => !peaks.has(one.full))) return null;
  return [...measured].sort((a, b) => peaks.get(b.full)! - peaks.get(a.full)!)[0] ?? null;
}

// The peak of each program, one after the other; each answer is also the one the page needs when that program is chosen.
function usePeaks(modules: readonly HloModuleName[] | null, space: string, lazy: boolean): ReadonlyMap<string, number> {
  const { sessionId, reloads } = useToolSession();
  const [peaks, setPeaks] = useState<ReadonlyMap<string, number>>(new Map());
  const [asked, setAsked] = useState(!lazy);
  useEffect(() => {
    if (!lazy) setAsked(true);
  }, [lazy]);
  useEffect(() => {
    if (!modules || !asked) return;
    const abort = new AbortController();
    setPeaks(new Map());
    void (async () => {
      const found = new Map<string, number>();
      for (const module of modules.slice(0, mostMeasured)) {
        try {
          const answer = await once(`peak/${sessionId}/${reloads}/${module.full}/${space}`, abort.signal, (signal) => askTool(sessionId, 'memory_viewer', { options: { module_name: module.full, memory_space: space } }, { signal }));
          found.set(module.full, readHeap(answer.document)?.peakBytes ?? 0);
        } catch (error) {
          if (isAbort(error) || abort.signal.aborted) return;
          found.set(module.full, 0);
        }
        setPeaks(new Map(found));
      }
    })();
    return () => abort.abort();
  }, [modules, asked, space, sessionId, reloads]);
  return peaks;
}

function ModuleMenu({ modules, peaks, chosen, onChoose }: { modules: readonly HloModuleName[]; peaks: ReadonlyMap<string, number>; chosen: HloModuleName | null; onChoose: (module: HloModuleName) => void }) {
  const sorted = [...modules].sort((a, b) => (peaks.get(b.full) ?? -1) - (peaks.get(a.full) ?? -1));
  return (
    <Menu
      label={`Program ${chosen ? moduleLabel(chosen) : 'none yet'}`}
      className="button context-choice"
      button={
        <>
          <span className="muted">Program</span>{' '}
          <span className="truncate mono">{chosen ? moduleLabel(chosen) : 'none yet'}</span>
          <Icon name="chevron" />
        </>
      }
    >
      {(close) => (
        <>
          <div className="menu-title label">{plural(modules.length, 'program')}, largest peak first</div>
          {sorted.map((one) => (
            <button
              key={one.full} type="button" className="menu-item" role="menuitemradio" aria-checked={one === chosen} title={one.full}
              onClick={() => {
                close();
                onChoose(one);
              }}
            >
              <span className="menu-check">{one === chosen && <Icon name="check" />}</span>
              <span className="mono truncate">{moduleLabel(one)}</span>
              <span className="end">{peaks.has(one.full) ? formatBytes(peaks.get(one.full)) : ''}</span>
            </button>
          ))}
        </>
      )}
    </Menu>
  );
}

function HeapPage({ heap, module }: { heap: Heap; module: HloModuleName }) {
  const filters = parseFilters(useUrlKey('f'));
  const owner = filters.find((one) => one.column === 'kind')?.value ?? null;
  const bufferKey = useUrlKey('buffer');
  const [picked, setPicked] = useState<number | null>(null);
  const table = useMemo(() => heapTable(heap), [heap]);
  const owners = useMemo(() => ownersOf(heap), [heap]);
  const buffer = heap.buffers.find((one) => String(one.id) === bufferKey) ?? null;
  const blocks = useMemo(() => {
    const parts = heap.blocks.filter((one) => one.id >= 0);
    return (parts.length > 0 ? parts : heap.blocks).map((one, i) => ({ ...one, id: one.id >= 0 ? String(one.id) : `a${i}`, category: ownerColour(one.category), words: `${one.category || 'no kind'}, instructions ${one.start} to ${one.end}` }));
  }, [heap]);
  const selectOwner = (name: string | null) => pushKeys({ f: formatFilters([...filters.filter((one) => one.column !== 'kind'), ...(name ? [{ column: 'kind', operator: '=' as const, value: name }] : [])]) });
  const selectBuffer = (id: string | null) => pushKeys({ buffer: id });
  const padding = Math.max(0, heap.peakBytes - heap.peakUnpadded);
  return (
    <>
      <section className="panel kpis four" aria-label="Memory of the program">
        <div className="kpi" title={exactBytes(heap.peakBytes)}>
          <div className="label">Peak of the heap</div>
          <div className="kpi-value">{formatBytes(heap.peakBytes)}</div>
          <div className="kpi-note truncate" title={heap.names[heap.peakAt]}>{heap.names[heap.peakAt] ? `at ${heap.names[heap.peakAt]}` : ''}</div>
        </div>
        <div className="kpi" title={exactBytes(heap.totalBytes)}>
          <div className="label">Allocated in all</div>
          <div className="kpi-value">{formatBytes(heap.totalBytes)}</div>
          <div className="kpi-note truncate">{heap.indefiniteBytes > 0 ? `${formatBytes(heap.indefiniteBytes)} live throughout` : ''}</div>
        </div>
        <div className="kpi" title={exactBytes(heap.fragmentationBytes)}>
          <div className="label">Above the peak</div>
          <div className="kpi-value">{formatBytes(heap.fragmentationBytes)}</div>
          <div className="kpi-note truncate">fragmentation and alignment</div>
        </div>
        <div className="kpi" title={exactBytes(padding)}>
          <div className="label">Padding at the peak</div>
          <div className="kpi-value">{formatBytes(padding)}</div>
          <div className="kpi-note truncate">{heap.peakBytes > 0 ? `${formatShare(padding / heap.peakBytes)} of it` : ''}</div>
        </div>
      </section>
      {heap.sizes.length > 1 && (
        <section className="panel" aria-label="Heap along the program">
          <header>
            <h2>Heap along the program</h2>
            <span className="aside">{plural(heap.sizes.length, 'step')} of {heap.entry}</span>
          </header>
          <AreaChart
            xs={heap.sizes.map((_, i) => i)}
            series={[{ id: 'heap', label: 'Heap', category: 'matmul', values: heap.sizes }, { id: 'unpadded', label: 'Without padding', category: 'other', values: heap.unpadded, line: true }]}
            title="Heap size" formatX={(at) => String(Math.round(at))}
            marks={[{ x: heap.peakAt, label: `peak ${formatBytes(heap.peakBytes)}` }]}
            band={buffer && buffer.start !== null && buffer.end !== null ? { from: buffer.start, to: buffer.end } : null}
            picked={picked} onPick={setPicked} height={190}
            readout={(at) => (
              <>
                <strong>{formatBytes(heap.sizes[at])}</strong> at instruction {formatCount(at)} <span className="mono">{heap.names[at]}</span>
              </>
            )}
          />
        </section>
      )}
      {owners.length > 0 && heap.peakBytes > 0 && (
        <section className="panel" aria-label="Owners at the peak">
          <header>
            <h2>Who fills the peak</h2>
            <span className="aside">
              {owners.slice(0, 5).map((one) => (
                <button key={one.name} type="button" className={owner === one.name ? 'filter-chip' : 'filter-chip off'} onClick={() => selectOwner(owner === one.name ? null : one.name)}>
                  <span className={`swatch cat-${ownerColour(one.name)}`} style={{ backgroundColor: `var(--cat-${ownerColour(one.name)})`, borderColor: `var(--cat-${ownerColour(one.name)}-edge)` }} />
                  {one.name} <strong>{formatShare(one.bytes / heap.peakBytes)}</strong>
                </button>
              ))}
            </span>
          </header>
          <div className="treemap-box">
            <Treemap
              title="Buffers at the peak" selected={bufferKey} onSelect={selectBuffer} height={180}
              items={heap.buffers.map((one, i) => ({ id: one.id >= 0 ? String(one.id) : `x${i}`, label: `${one.name.replace(/\{[\d,]*\}$/, '')} ${formatBytes(one.bytes)}`, size: one.bytes, category: ownerColour(one.group), title: `${one.name}: ${formatBytes(one.bytes)}, ${formatShare(one.bytes / heap.peakBytes)} of the peak, ${one.group}, ${one.shape}` }))}
            />
          </div>
        </section>
      )}
      {blocks.length > 0 && (
        <section className="panel" aria-label="Blocks in memory">
          <header>
            <h2>Blocks in memory, along the program</h2>
            <span className="aside">{plural(blocks.length, 'block')}</span>
          </header>
          <BlockMap blocks={blocks} steps={Math.max(heap.sizes.length, ...blocks.map((one) => one.end + 1))} title="Blocks of buffers in memory" selected={bufferKey} onSelect={selectBuffer} />
        </section>
      )}
      <DataTable table={table} preset={preset} emptyText="The program has no buffer in this memory." openRow={buffer ? heap.buffers.indexOf(buffer) : null} onOpen={(row) => pushKeys({ buffer: String(heap.buffers[row.index]!.id), op: row.subject ? opKey(module.id, row.subject.opName) : null })} />
    </>
  );
}
