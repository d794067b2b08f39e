// Who feeds an op, who uses it: the neighbourhood of one instruction, placed in a worker; the module's text; its computations. The
// module is named by id in the address, so two modules of one name are told apart.
import { useEffect, useMemo, useRef, useState } from 'react';
import { PanelTableExport } from '../../export/TableExport';
import { formatCount, formatShare, plural } from '../../format/format';
import { askHlo } from '../../hlo/client';
import type { Found } from '../../hlo/neighbourhood';
import { type LoadedModule, useInstruction, useModule } from '../../hlo/useHlo';
import { keyLabel } from '../../keys/table';
import { useKeys } from '../../keys/useKeys';
import { pushKeys, useUrlKey } from '../../state/url';
import { exportUrl } from '../../tools/client';
import { findTool } from '../../tools/catalog';
import { opKey } from '../../tools/drawerKeys';
import { withOpShare } from '../../tools/groupRows';
import { moduleOf } from '../../tools/OpSections';
import { optionKey } from '../../tools/options';
import { useToolAnswer, useToolSession } from '../../tools/session';
import type { ToolBodyProps } from '../../tools/ToolPage';
import { numberOf, textOf } from '../../tools/types';
import { findModule, type HloModuleName, moduleLabel, useModules } from '../../tools/useModules';
import { Icon } from '../../ui/Icon';
import { Menu } from '../../ui/Menu';
import { ErrorNotice, Select, Skeleton } from '../../ui/states';
import { TextView } from '../../ui/TextView';
import { useResource } from '../../ui/useResource';
import { GraphView } from './GraphView';
import './graph.css';

const radii = [
  { value: '', label: 'auto' },
  ...['1', '2', '3', '4', '5'].map((value) => ({ value, label: value })),
];

interface OpTime {
  readonly name: string;
  readonly moduleId: string;
  readonly share: number;
}

// Time of each op by module, from the op stats: the heat of the picture, and where to begin.
function useOpTimes(hosts: string): OpTime[] {
  const { tools } = useToolSession();
  const stats = useToolAnswer(tools && findTool(tools, 'hlo_stats') ? 'hlo_stats' : null, { hosts });
  return useMemo(() => {
    const first = stats.value?.tables[0];
    if (!first) return [];
    const table = withOpShare(first);
    return table.rows.map((row) => ({ name: row.subject?.opName || textOf(table, row, 'hlo_op_name'), moduleId: moduleOf(table, row), share: numberOf(table, row, 'own.share') ?? 0 })).sort((a, b) => b.share - a.share);
  }, [stats.value]);
}

export default function GraphBody({ sessionId, tool, query }: ToolBodyProps) {
  const modules = useModules();
  const times = useOpTimes(query.hosts ?? '');
  const wanted = useUrlKey(optionKey('program_id')) ?? useUrlKey(optionKey('module_name'));
  const all = modules.value ?? [];
  // Without a wish the program of the heaviest op is shown.
  const chosen = wanted !== null ? findModule(all, wanted) : (all.find((one) => one.id !== '' && one.id === times[0]?.moduleId) ?? all[0] ?? null);
  const moduleKey = chosen ? chosen.id || chosen.full : wanted;
  const module = useModule(moduleKey);
  const node = useUrlKey(optionKey('node_name'));
  const view = useUrlKey('view') ?? 'graph';
  const heat = useMemo(() => new Map(times.filter((one) => chosen === null || one.moduleId === chosen.id).map((one) => [one.name, one.share])), [times, chosen]);
  const start = node ?? times.find((one) => one.moduleId === chosen?.id)?.name ?? module.value?.facts.entryRoot ?? null;
  if (!modules.value && modules.loading) return <Skeleton width="100%" height={420} />;
  if (modules.value?.length === 0 && wanted === null) return tool.applies ? <p className="muted">The session holds no HLO module. Capture with enable_hlo_proto, or put *.hlo_proto.pb beside the profile.</p> : null;
  return (
    <>
      <div className="options-bar">
        <ModuleChoice modules={all} times={times} chosen={chosen} wanted={wanted} />
        {module.value && <FindInstruction module={module.value} />}
        <div className="tool-tabs" role="group" aria-label="View">
          {(['graph', 'text', 'computations'] as const).map((one) => (
            <button key={one} type="button" aria-pressed={view === one} onClick={() => pushKeys({ view: one === 'graph' ? null : one })}>
              {one === 'graph' ? 'Graph' : one === 'text' ? 'Text' : 'Computations'}
            </button>
          ))}
        </div>
        {moduleKey && <Downloads sessionId={sessionId} module={moduleKey} />}
      </div>
      {module.error && !module.error.lostConnection && <ErrorNotice what="The module could not be read." error={module.error} onRetry={module.reload} />}
      {!module.value && module.loading && <Skeleton width="100%" height={420} />}
      {module.value && view === 'graph' && (start ? <Neighbourhood module={module.value} moduleId={chosen?.id ?? ''} name={start} heat={heat} /> : <p className="muted">The module has no instruction.</p>)}
      {module.value && view === 'text' && <ModuleText module={module.value} name={node} />}
      {module.value && view === 'computations' && <Computations module={module.value} />}
    </>
  );
}

function ModuleChoice({ modules, times, chosen, wanted }: { modules: readonly HloModuleName[]; times: readonly OpTime[]; chosen: HloModuleName | null; wanted: string | null }) {
  const shares = useMemo(() => {
    const found = new Map<string, number>();
    for (const one of times) found.set(one.moduleId, (found.get(one.moduleId) ?? 0) + one.share);
    return found;
  }, [times]);
  const sorted = [...modules].sort((a, b) => (shares.get(b.id) ?? 0) - (shares.get(a.id) ?? 0));
  const label = chosen ? moduleLabel(chosen) : (wanted ?? 'none');
  return (
    <Menu label={`Module ${label}`} className="button context-choice" button={<><span className="muted">Module</span>{' '}<span className="mono truncate">{label}</span><Icon name="chevron" /></>}>
      {(close) => (
        <>
          <div className="menu-title label">{plural(modules.length, 'module')}, by device time</div>
          {sorted.map((one) => (
            <button
              key={one.full} type="button" className="menu-item" role="menuitemradio" aria-checked={one === chosen} title={one.full}
              onClick={() => {
                close();
                pushKeys({ [optionKey('program_id')]: one.id || null, [optionKey('module_name')]: one.id ? null : one.full, [optionKey('node_name')]: null, x: null, op: null });
              }}
            >
              <span className="menu-check">{one === chosen && <Icon name="check" />}</span>
              <span className="mono truncate">{moduleLabel(one)}</span>
              <span className="end">{shares.has(one.id) ? formatShare(shares.get(one.id)) : ''}</span>
            </button>
          ))}
        </>
      )}
    </Menu>
  );
}

const mostFound = 60;

function follow(name: string, more: Readonly<Record<string, string | null>> = {}): void {
  pushKeys({ [optionKey('node_name')]: name, x: null, ...more });
}

function FindInstruction({ module }: { module: LoadedModule }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Found[]>([]);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useKeys({ 'app.find': () => input.current?.focus() });
  useEffect(() => {
    if (text.trim() === '') {
      setFound([]);
      return;
    }
    let gone = false;
    askHlo<'find'>({ kind: 'find', key: module.key, text, most: mostFound }).then(
      (value) => {
        if (gone) return;
        setFound(value);
        setAt(0);
      },
      () => setFound([]),
    );
    return () => {
      gone = true;
    };
  }, [text, module.key]);
  const take = (one: Found | undefined) => {
    if (!one) return;
    setText('');
    input.current?.blur();
    follow(one.name);
  };
  return (
    <div className="find-instruction">
      <input
        ref={input} className="input" type="search" role="combobox" aria-expanded={found.length > 0} aria-controls="found-instructions" aria-label="Find an instruction" placeholder={`Find in ${plural(module.facts.instructionCount, 'instruction')} (${keyLabel('app.find')})`} value={text} spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
          else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
          else if (event.key === 'Enter') take(found[at]);
          else if (event.key === 'Escape') {
            if (text) setText('');
            else input.current?.blur();
          } else return;
          event.preventDefault();
          event.nativeEvent.stopImmediatePropagation();
        }}
      />
      {text.trim() !== '' && (
        <div className="found-list" id="found-instructions" role="listbox" aria-label="Instructions found">
          {found.map((one, i) => (
            <div key={one.name} role="option" aria-selected={i === at} className="palette-item" onMouseMove={() => setAt(i)} onMouseDown={(event) => { event.preventDefault(); take(one); }}>
              <span className="mono truncate">{one.name}</span>
              <span className="end">{one.opcode}, {one.computation}</span>
            </div>
          ))}
          {found.length === 0 && <div className="palette-none">No instruction, opcode, framework op or source has this.</div>}
        </div>
      )}
    </div>
  );
}

function Neighbourhood({ module, moduleId, name, heat }: { module: LoadedModule; moduleId: string; name: string; heat: ReadonlyMap<string, number> }) {
  const radius = useUrlKey(optionKey('graph_width')) ?? '';
  const unfoldedKey = useUrlKey('x');
  const unfolded = unfoldedKey ? unfoldedKey.split(',') : [];
  const steps = Math.max(0, Math.min(5, Number(radius) || 0)); // 0: as many as can be read.
  const picture = useResource(`picture/${module.key}/${name}/${steps}/${unfoldedKey ?? ''}`, () => askHlo<'picture'>({ kind: 'picture', key: module.key, name, radius: steps, unfolded }));
  const facts = useInstruction(module, name);
  const last = useRef(picture.value);
  if (picture.value) last.current = picture.value;
  const shown = picture.value ?? last.current;
  if (!picture.loading && picture.value === null) {
    return (
      <p className="muted">
        The module has no instruction or computation called <code>{name}</code>.
      </p>
    );
  }
  return (
    <section className="panel graph-panel" aria-label="Graph">
      <header className="table-bar">
        <h2 className="mono truncate" title={name}>{name}</h2>
        {facts.value && (
          <span className="muted truncate">
            {facts.value.opcode} in {facts.value.computation}, {plural(facts.value.operands.length, 'operand')}, {plural(facts.value.users.length, 'user')}
            {heat.has(name) && <>, <strong>{formatShare(heat.get(name))}</strong> of op time</>}
          </span>
        )}
        <span className="aside">
          <label className="option">
            <span className="label">Steps</span>
            <Select value={steps === 0 ? '' : String(steps)} choices={radii} onChange={(value) => pushKeys({ [optionKey('graph_width')]: value || null })} />
          </label>
          {unfolded.length > 0 && (
            <button type="button" className="button plain small" onClick={() => pushKeys({ x: null })}>
              Fold
            </button>
          )}
          <button type="button" className="button small" onClick={() => pushKeys({ op: opKey(moduleId, name) })}>
            Details
          </button>
        </span>
      </header>
      {shown ? (
        <GraphView
          picture={shown} heat={heat} onFollow={(next) => follow(next)} onEnter={(computation) => follow(computation)}
          onUnfold={(next) => pushKeys({ x: [...unfolded.filter((one) => one !== next), next].join(','), [optionKey('node_name')]: name })}
        />
      ) : (
        <div className="graph-view"><Skeleton width="100%" height={400} /></div>
      )}
    </section>
  );
}

function ModuleText({ module, name }: { module: LoadedModule; name: string | null }) {
  const facts = useInstruction(module, name);
  const lines = useMemo(() => module.text.split('\n'), [module.text]);
  return (
    <TextView
      text={module.text} title={module.facts.name || 'HLO'} line={facts.value?.line ?? null}
      onLine={(line) => {
        const found = /^\s*(?:ROOT )?%?([^\s=]+) = /.exec(lines[line] ?? '') ?? /^(?:ENTRY )?%?([^\s({]+).*\{\s*$/.exec(lines[line] ?? '');
        if (found) follow(found[1]!, { view: null });
      }}
      actions={<span className="nowrap">double click: go to the graph</span>}
    />
  );
}

function Computations({ module }: { module: LoadedModule }) {
  return (
    <section className="panel computations" aria-label="Computations">
      <header>
        <h2>Computations</h2>
        <span className="aside">
          {plural(module.facts.computations.length, 'computation')}
          <PanelTableExport title="Computations" />
        </span>
      </header>
      <table className="table">
        <thead>
          <tr>
            <th>Computation</th>
            <th>Root</th>
            <th className="number">Instructions</th>
          </tr>
        </thead>
        <tbody>
          {module.facts.computations.map((one) => (
            <tr key={one.name} className="link" onClick={() => follow(one.root || one.name, { view: null })}>
              <td className="mono">
                <button type="button" className="tl-link mono" onClick={(event) => { event.stopPropagation(); follow(one.root || one.name, { view: null }); }}>
                  {one.name}
                </button>
                {one.entry && <span className="muted"> entry</span>}
              </td>
              <td className="mono text2">{one.root}</td>
              <td className="number">{formatCount(one.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Downloads({ sessionId, module }: { sessionId: string; module: string }) {
  const options: Record<string, string> = /^\d+$/.test(module) ? { program_id: module } : { module_name: module };
  const link = (type: string) => exportUrl(sessionId, 'graph_viewer', { options: { ...options, type } }, 'raw', []);
  return (
    <Menu label="Export the module" className="button plain small" button={<>Export<Icon name="chevron" /></>}>
      {(close) =>
        ([['short_txt', 'Short text'], ['long_txt', 'Long text'], ['pb', 'Protobuf'], ['pbtxt', 'Protobuf as text']] as const).map(([type, label]) => (
          <a key={type} className="menu-item" role="menuitem" href={link(type)} download={`module.${type.replace('short_txt', 'txt').replace('long_txt', 'long.txt')}`} onClick={close}>
            {label}
          </a>
        ))
      }
    </Menu>
  );
}
