// The lower half of two timelines: the baseline's tracks below this session's, by which step they are aligned, and what is
// selected in it.

import { useEffect, useRef, useState } from 'react';
import { ApiError, api } from '../api/client';
import { formatTime, sessionLabel } from '../format/format';
import { pushKeys, useUrlKey } from '../state/url';
import { useResolvedTheme } from '../theme/theme';
import { sessionPath } from '../state/router';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { ErrorNotice } from '../ui/states';
import { useResource } from '../ui/useResource';
import { alignChoices, nearestStep, shiftOf, sideOf } from './align';
import type { PanelProps } from './BottomPanel';
import { findElements, StageGrid } from './StageGrid';
import { SecondSession } from './second';
import { makeStore } from './state';
import { useStore } from './store';
import { viewToText } from './view';

export function SecondStage({ store, session }: PanelProps) {
  const baseline = useUrlKey('b');
  if (baseline === null) {
    return (
      <section className="tl-second tl-second-empty" aria-label="Baseline" data-testid="timeline-second">
        <strong>No baseline is chosen.</strong>
        <span className="muted">Choose one in the bar above (key b): its timeline then stands here, aligned by step.</span>
        <button type="button" className="button small" onClick={() => session?.setTwoOn(false)}>Close</button>
      </section>
    );
  }
  return <Second key={baseline} baseline={baseline} store={store} session={session} />;
}

function Second({ baseline, store: upperStore, session }: PanelProps & { baseline: string }) {
  const root = useRef<HTMLElement>(null);
  const [store] = useState(makeStore);
  const [second, setSecond] = useState<SecondSession | null>(null);
  const [, setChanges] = useState(0);
  const theme = useResolvedTheme();
  const themeNow = useRef(theme);
  themeNow.current = theme;
  const wanted = useUrlKey('align') ?? '';
  const named = useResource(`baseline/${baseline}`, (signal) => api.session(baseline, { signal }));
  const error = useStore(store, (state) => state.error);
  const upperSteps = useStore(upperStore, (state) => state.steps);
  const phase = useStore(upperStore, (state) => state.phase);
  useStore(store, (state) => state.steps);

  const upper = session?.engine;
  useEffect(() => {
    if (upper === undefined) return;
    const opened = new SecondSession(baseline, findElements(root.current!), store, themeNow.current, upper, () => setChanges((n) => n + 1));
    setSecond(opened);
    return () => opened.dispose();
  }, [baseline, store, upper]);
  useEffect(() => second?.engine.setTheme(theme), [second, theme]);

  const lower = second?.side ?? null;
  const lines = phase === 'ready' ? upper?.lines ?? null : null;
  const side = lines === null ? null : sideOf(lines, upperSteps);
  const choices = side === null || lower === null ? [] : alignChoices(side, lower);
  const chosen = shiftOf(choices, wanted);
  const known = choices.length > 0;
  useEffect(() => {
    if (known) second?.setShift(chosen.shiftPs);
  }, [second, known, chosen.shiftPs]);

  const choose = (id: string): void => pushKeys({ align: id === choices[0]?.id ? null : id });
  const alignNearest = (): void => {
    const view = upper?.view;
    const step = view === undefined || side === null ? null : nearestStep(choices, side, view.startPs + view.durationPs / 2);
    if (step !== null) choose(step.id);
  };
  const here = useStore(upperStore, (state) => state.detail);
  const there = useStore(store, (state) => state.detail);
  return (
    <section className="tl-second" ref={root} aria-label="Baseline" data-testid="timeline-second" data-ready="false" data-shift-ps={chosen.shiftPs}>
      <header className="tl-second-bar">
        <span className="label">Baseline</span>
        <Link to={sessionPath(baseline, 'timeline', second === null || lower === null ? '' : `?v=${viewToText(second.engine.view)}`)} className="tl-link truncate">
          {named.value === null ? baseline : `${named.value.run === '' ? '' : `${named.value.run} / `}${sessionLabel(named.value.name)}`}
        </Link>
        <label className="tl-select">
          <span className="label">Aligned by</span>
          <select className="input small" value={chosen.id} disabled={!known} data-testid="timeline-align" onChange={(event) => choose(event.target.value)}>
            {choices.map((one) => <option key={one.id} value={one.id}>{one.label}</option>)}
            {chosen.id.startsWith('shift:') && <option value={chosen.id}>By hand</option>}
          </select>
        </label>
        {known && choices[0]!.id.startsWith('step:') && <button type="button" className="button plain small" onClick={alignNearest}>Step in view</button>}
        {here !== null && there !== null && (
          <button type="button" className="button plain small" title="Puts the event selected below under the one selected above" onClick={() => choose(`shift:${there.start_ps - here.start_ps}`)}>
            Align the selected events
          </button>
        )}
        <span className="muted" title="Time below less time above">shifted by {formatTime(chosen.shiftPs)}</span>
        {there !== null && (
          <span className="truncate tl-second-event">
            <span className="mono">{there.name}</span> <strong>{formatTime(there.duration_ps)}</strong>
            {here !== null && here.name === there.name && <span className="muted"> above {formatTime(here.duration_ps)}</span>}
          </span>
        )}
        <button type="button" className="button plain small square" aria-label="Close the baseline's timeline" onClick={() => session?.setTwoOn(false)}>
          <Icon name="close" />
        </button>
      </header>
      {error !== null && <ErrorNotice what="The baseline's timeline could not be opened." error={new ApiError(0, error)} onRetry={() => second?.retry()} />}
      <StageGrid store={store} session={null} name="Baseline timeline" />
    </section>
  );
}
