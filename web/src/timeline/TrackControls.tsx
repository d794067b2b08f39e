// Above the tracks: which of them are shown, what colours say, the arrows, the marks, the gaps.

import { useEffect, useRef, useState } from 'react';
import { formatCount, formatTime } from '../format/format';
import { keyHint } from '../keys/table';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { COLOUR_CHOICES, type ColourBy } from './colour';
import { MAX_NOTE_CHARS, type Mark } from './marks';
import type { PanelProps } from './BottomPanel';
import { ExportMenu } from './ExportMenu';
import { useStore } from './store';

const TYPING_REST_MS = 200;
const COLOUR_NAMES: Readonly<Record<ColourBy, string>> = { category: 'category', name: 'name', device: 'device' };

export function TrackFilter({ store, session }: PanelProps) {
  const filter = useStore(store, (state) => state.filter);
  const hideEmpty = useStore(store, (state) => state.hideEmpty);
  const [text, setText] = useState(filter);
  const timer = useRef(0);
  useEffect(() => setText(filter), [filter]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const onChange = (wanted: string): void => {
    setText(wanted);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => session?.chooseTracks({ filter: wanted }), TYPING_REST_MS);
  };
  return (
    <div className="tl-filter">
      <input
        className="input" type="text" value={text} placeholder="Filter tracks" aria-label="Filter tracks" data-testid="timeline-track-filter" spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || text === '') return;
          event.stopPropagation();
          onChange('');
        }}
      />
      <button type="button" className="button plain small" aria-pressed={hideEmpty} title="Hide tracks without events" onClick={() => session?.chooseTracks({ hideEmpty: !hideEmpty })}>
        Hide empty
      </button>
    </div>
  );
}

export function ViewTools({ store, session }: PanelProps) {
  const colourBy = useStore(store, (state) => state.colourBy);
  const flowsOn = useStore(store, (state) => state.flowsOn);
  const total = useStore(store, (state) => state.viewFlowsTotal);
  const shown = useStore(store, (state) => state.viewFlows.length);
  const panel = useStore(store, (state) => state.panel);
  const twoOn = useStore(store, (state) => state.twoOn);
  return (
    <>
      <label className="tl-select">
        <span className="label">Colour</span>
        <select className="input small" value={colourBy} data-testid="timeline-colour" onChange={(event) => session?.setColourBy(event.target.value as ColourBy)}>
          {COLOUR_CHOICES.map((one) => <option key={one} value={one}>{COLOUR_NAMES[one]}</option>)}
        </select>
      </label>
      <button
        type="button" className="button plain small" aria-pressed={flowsOn} data-testid="timeline-flows" onClick={() => session?.setFlowsOn(!flowsOn)}
        title="Arrows from launches and producers to what they caused"
      >
        Flows
        {flowsOn && <span className="muted">{shown < total ? `${formatCount(shown)} of ${formatCount(total)}` : formatCount(total)}</span>}
      </button>
      <button type="button" className="button plain small" aria-pressed={panel === 'gaps'} data-testid="timeline-gaps-button" title={keyHint('timeline.gaps')} onClick={() => (panel === 'gaps' ? store.set({ panel: 'event' }) : session?.openGaps(null))}>
        Gaps
      </button>
      <Marks store={store} session={session} />
      <ExportMenu store={store} session={session} />
      <button
        type="button" className="button plain small" aria-pressed={twoOn} data-testid="timeline-two" onClick={() => session?.setTwoOn(!twoOn)}
        title="The baseline's timeline below this one, aligned by step"
      >
        Baseline
      </button>
    </>
  );
}

function Marks({ store, session }: PanelProps) {
  const marks = useStore(store, (state) => state.marks);
  return (
    <Menu label="Marks" className="button plain small" align="right" title={keyHint('timeline.mark')} button={<>Marks{marks.length > 0 && <span className="muted">{marks.length}</span>}</>}>
      {() => (
        <div className="tl-marks" data-testid="timeline-marks">
          <button type="button" className="button small" onClick={() => session?.addMark()}>Mark this moment</button>
          {marks.length === 0 && <p className="muted">No mark yet. Marks and notes are part of the link to this view.</p>}
          {marks.map((mark) => <MarkRow key={mark.atPs} mark={mark} session={session} />)}
        </div>
      )}
    </Menu>
  );
}

function MarkRow({ mark, session }: { mark: Mark; session: PanelProps['session'] }) {
  const [note, setNote] = useState(mark.note);
  const keep = (): void => {
    if (note !== mark.note) session?.setNote(mark.atPs, note);
  };
  return (
    <div className="tl-mark-row">
      <button type="button" className="tl-link" onClick={() => session?.navigator.goToTime(mark.atPs, null)}>{formatTime(mark.atPs)}</button>
      <input
        className="input small" value={note} maxLength={MAX_NOTE_CHARS} placeholder="Note" aria-label={`Note at ${formatTime(mark.atPs)}`}
        onChange={(event) => setNote(event.target.value)} onBlur={keep}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Enter') keep();
        }}
      />
      <button type="button" className="button plain small square" aria-label={`Remove the mark at ${formatTime(mark.atPs)}`} onClick={() => session?.removeMark(mark.atPs)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
