import { memo } from 'react';
import { Spark } from '../charts/Spark';
import { formatAge, formatClock, formatCount, unknown } from '../format/format';
import { keyHint } from '../keys/table';
import { replaceKeys } from '../state/url';
import { Icon } from '../ui/Icon';
import { Link, plainClick } from '../ui/Link';
import type { RunFigures } from './figures';
import type { ListItem } from './listModel';
import { formatValue } from './metrics';
import { RunStateChip } from './RunStateChip';
import { keyOf, labelsText, runAddress, runDuration, runState, runTitle, timeOf } from './runs';
import type { Run } from './types';

interface RunRowProps {
  run: Run;
  rowIndex: number;
  nowMs: number; // Moves on by steps, so that ages and durations do.
  figures: RunFigures | undefined; // Not known yet.
  current: boolean;
  selected: boolean;
  onSelect: (name: string) => void;
  onPoint: () => void;
  onOpen: () => void;
}

const dayMs = 86_400_000;

function sameRow(a: RunRowProps, b: RunRowProps): boolean {
  // The functions change with every drawing and mean the same as long as the row stays in its place. A run that goes on shows its time.
  const stands = timeOf(a.run.endTime) !== null && Date.now() - (timeOf(a.run.createTime) ?? 0) > dayMs;
  return a.run === b.run && a.rowIndex === b.rowIndex && a.figures === b.figures && a.current === b.current && a.selected === b.selected && (stands || a.nowMs === b.nowMs);
}

export const RunRow = memo(function RunRow({ run, rowIndex, nowMs, figures, current, selected, onSelect, onPoint, onOpen }: RunRowProps) {
  const created = timeOf(run.createTime);
  const path = run.artifacts?.gcsPath ?? '';
  const group = run.runSet;
  const labels = labelsText(run.labels);
  return (
    <tr
      className={current ? 'link current' : 'link'}
      aria-rowindex={rowIndex}
      aria-selected={current}
      onClick={(event) => {
        if (event.defaultPrevented) return;
        onPoint();
        if (plainClick(event)) onOpen();
      }}
    >
      <td className="pick" onClick={(event) => event.stopPropagation()}>
        <input type="checkbox" checked={selected} aria-label={`Select ${runTitle(run)}`} title={keyHint('list.select')} onChange={() => onSelect(run.name)} />
      </td>
      <td title={run.name}>
        <Link to={runAddress(keyOf(run.name))} className="run-name">
          {runTitle(run)}
        </Link>
      </td>
      <td title={group}>
        {group && (
          <button
            type="button"
            className="button plain small group"
            title={`Only runs of ${group}`}
            onClick={(event) => {
              event.preventDefault();
              replaceKeys({ group });
            }}
          >
            {group}
          </button>
        )}
      </td>
      <td>
        <RunStateChip state={runState(run.state)} title={run.errorDetails} />
      </td>
      <td className="number" title={figures && figures.stepSeconds === null ? 'This run recorded no step_time' : 'The latest step time, and how it went'}>
        {figures && figures.stepSeconds !== null && (
          <>
            <Spark values={figures.stepSpark} /> {formatValue(figures.stepSeconds, 's')}
          </>
        )}
        {figures && figures.stepSeconds === null && <span className="muted">{unknown}</span>}
      </td>
      <td className="number" title={figures && figures.ofPeak === null ? 'This run recorded no mfu' : 'Share of the peak FLOPS, as the job measured it'}>
        {figures && (figures.ofPeak === null ? <span className="muted">{unknown}</span> : formatValue(figures.ofPeak, '%'))}
      </td>
      <td title={labels} className="text2 labels">
        {labels}
      </td>
      <td title={run.storageScan?.error ? `${path}: ${run.storageScan.error}` : path} className="text2">
        {run.storageScan?.error && <Icon name="damaged" className="bad" />}
        {path}
      </td>
      <td className="number">{runDuration(run, Math.max(nowMs, created ?? 0))}</td>
      <td className="number" title={formatClock(created)}>
        {formatAge(created, Math.max(nowMs, created ?? 0))}
      </td>
    </tr>
  );
}, sameRow);

interface GroupRowProps {
  item: Extract<ListItem, { kind: 'group' }>;
  current: boolean;
  onToggle: () => void;
}

export function GroupRow({ item, current, onToggle }: GroupRowProps) {
  return (
    <tr className={current ? 'run-group current' : 'run-group'} aria-selected={current}>
      <td colSpan={10}>
        <button type="button" className="button plain small" aria-expanded={!item.folded} onClick={onToggle}>
          <Icon name={item.folded ? 'right' : 'chevron'} />
          <strong>{item.label}</strong>
          <span className="muted">{formatCount(item.count)}</span>
        </button>
      </td>
    </tr>
  );
}
