// Search with count and steps, go to time, zoom buttons, area, colour legend.

import { useEffect, useRef, useState } from 'react';
import { formatCount, formatTime, plural } from '../format/format';
import { keyHint, keyLabel } from '../keys/table';
import { pushKeys } from '../state/url';
import { categories } from '../theme/tokens';
import { Icon } from '../ui/Icon';
import type { CategoryTime } from './categoryTimes';
import { GoTo } from './GoTo';
import type { TimelineSession } from './session';
import type { TimelineStore } from './state';
import { ViewTools } from './TrackControls';
import { Store, useStore } from './store';
import { zoomAt } from './view';

interface Props {
  readonly store: TimelineStore;
  readonly session: TimelineSession | null;
}

export function Toolbar({ store, session }: Props) {
  return (
    <div className="tl-toolbar" role="toolbar" aria-label="Timeline">
      <Search store={store} session={session} />
      <Area store={store} session={session} />
      <Legend store={store} session={session} />
      <div className="tl-tools">
        <ViewTools store={store} session={session} />
        <Failed store={store} session={session} />
        <button type="button" className="button plain small" title={keyHint('timeline.go_to')} onClick={() => store.set({ goToOpen: !store.get().goToOpen })}>
          Go to time
          <span className="kbd">{keyLabel('timeline.go_to')}</span>
        </button>
        <GoTo store={store} session={session} />
        <ZoomButton session={session} factor={2} label="Zoom out" sign="minus" hint={keyHint('timeline.zoom_out')} />
        <ZoomButton session={session} factor={0.5} label="Zoom in" sign="plus" hint={keyHint('timeline.zoom_in')} />
        <button type="button" className="button plain small" title={keyHint('timeline.fit_all')} onClick={() => session?.engine.fitAll()}>
          All
          <span className="kbd">{keyLabel('timeline.fit_all')}</span>
        </button>
      </div>
    </div>
  );
}

const SEARCH_HELP = [
  'Text or /regex/ looks in names. An expression looks further:',
  'name:text  name=text', 'stat:key  stat:key:text  stat:key>10', 'duration>10us', 'line:text  plane:text  host:text',
  'joined by and, or, not and parentheses; "texts with blanks" in quotes',
].join('\n');

/** Typing searches after this rest; Enter searches at once and goes to the next hit as soon as it is known. */
const TYPING_REST_MS = 250;

function Search({ store, session }: Props) {
  const query = useStore(store, (state) => state.query);
  const search = useStore(store, (state) => state.search);
  const searching = useStore(store, (state) => state.searching);
  const error = useStore(store, (state) => state.searchError);
  const hitIndex = useStore(store, (state) => state.hitIndex);
  const [text, setText] = useState(query);
  const timer = useRef(0);
  useEffect(() => setText(query), [query]);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  const run = (wanted: string): void => {
    window.clearTimeout(timer.current);
    if (wanted === store.get().query) return;
    session?.navigator.search(wanted);
    pushKeys({ q: wanted });
  };
  const onChange = (wanted: string): void => {
    setText(wanted);
    session?.navigator.forgetStep();
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => run(wanted), TYPING_REST_MS);
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key === 'Enter') {
      event.preventDefault();
      run(text);
      if (text !== '') session?.navigator.stepHit(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      session?.navigator.forgetStep();
      if (text !== '') onClear();
      else document.querySelector<HTMLElement>('[data-testid=timeline-body]')?.focus();
    }
  };
  const onClear = (): void => {
    setText('');
    run('');
  };
  return (
    <div className="tl-search">
      <Icon name="search" />
      <input
        className="input" data-testid="timeline-search" type="text" value={text} placeholder="Find: text, /regex/ or stat:key>1"
        title={SEARCH_HELP}
        aria-label="Find events" aria-invalid={error !== null} spellCheck={false} autoComplete="off"
        onChange={(event) => onChange(event.target.value)} onKeyDown={onKeyDown}
      />
      {query !== '' && (
        <>
          <span className="tl-hits" data-testid="timeline-hits" role="status" title={error?.message ?? undefined}>
            {error !== null ? <span className="crit">{error.name === 'UNKNOWN' ? 'failed' : error.message}</span>
              : searching || search === null ? 'searching'
                : hitIndex >= 0 ? `${formatCount(hitIndex + 1)} of ${plural(search.total, 'hit')}`
                  : `${plural(search.total, 'hit')} in ${plural(search.names, 'name')}`}
          </span>
          <button type="button" className="button plain small square" aria-label="Previous hit" title={keyHint('timeline.previous_hit')} disabled={search === null || search.total === 0} onClick={() => session?.navigator.stepHit(-1)}>
            <Icon name="left" />
          </button>
          <button type="button" className="button plain small square" aria-label="Next hit" title={keyHint('timeline.next_hit')} disabled={search === null || search.total === 0} onClick={() => session?.navigator.stepHit(1)}>
            <Icon name="right" />
          </button>
          <button type="button" className="button plain small square" aria-label="Clear the search" onClick={onClear}>
            <Icon name="close" />
          </button>
        </>
      )}
    </div>
  );
}

function Area({ store, session }: Props) {
  const area = useStore(store, (state) => state.area);
  if (area === null) return null;
  return (
    <div className="tl-area" data-testid="timeline-area">
      <span className="label">Area</span>
      <strong>{formatTime(area.endPs - area.startPs)}</strong>
      <span className="muted">from {formatTime(area.startPs)}</span>
      <button type="button" className="button plain small" onClick={() => store.set({ panel: 'area' })}>
        Totals
      </button>
      <button type="button" className="button plain small square" aria-label="Clear the area" onClick={() => session?.setArea(null)}>
        <Icon name="close" />
      </button>
    </div>
  );
}

function Failed({ store, session }: Props) {
  const failed = useStore(store, (state) => state.failedTiles);
  const message = useStore(store, (state) => state.tileError);
  if (failed === 0) return null;
  return (
    <button type="button" className="button small tl-failed" title={message} onClick={() => session?.engine.retryTiles()}>
      <Icon name="reload" />
      {plural(failed, 'piece')} not loaded. Retry
    </button>
  );
}

function ZoomButton({ session, factor, label, sign, hint }: { session: TimelineSession | null; factor: number; label: string; sign: 'plus' | 'minus'; hint: string }) {
  const onClick = (): void => {
    const engine = session?.engine;
    if (engine) engine.glide(zoomAt(engine.motion.target, engine.reach, engine.widthPx / 2, engine.widthPx, factor));
  };
  return (
    <button type="button" className="button plain small square" aria-label={label} title={hint} onClick={onClick}>
      <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d={sign === 'plus' ? 'M8 3v10M3 8h10' : 'M3 8h10'} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
      </svg>
    </button>
  );
}

/** Marker (9) looks like Other and explains itself by its tracks. */
const SHOWN_CATEGORIES = [1, 2, 3, 4, 5, 6, 7, 8, 0] as const;
const TIMES_MEAN = 'Time of the tracks on screen in this view, each moment of a line once. A bar that stands for many events counts for the longest of them.';

const noTimes = new Store<{ readonly times: readonly CategoryTime[] }>({ times: [] });

function Legend({ store, session }: Props) {
  const colourBy = useStore(store, (state) => state.colourBy);
  const times = useStore(session?.engine.times ?? noTimes, (state) => state.times);
  if (colourBy !== 'category') return <ul className="tl-legend" aria-label="Colours"><li>{colourBy === 'name' ? 'One colour a name, numbers aside' : 'One colour a device or process'}</li></ul>;
  const absent = SHOWN_CATEGORIES.filter((category) => !times.some((one) => one.category === category));
  return (
    <ul className="tl-legend" aria-label="Colours, with their time in view" title={TIMES_MEAN} data-testid="timeline-legend">
      {times.map(({ category, timePs }) => <LegendItem key={category} category={category} time={formatTime(timePs)} />)}
      {absent.map((category) => <LegendItem key={category} category={category} time={null} />)}
    </ul>
  );
}

function LegendItem({ category, time }: { category: number; time: string | null }) {
  const { key, label } = categories[category]!;
  return (
    <li data-category={key} className={time === null ? 'tl-absent' : undefined}>
      <span className={`tl-swatch tl-swatch-${key}`} />
      {label}
      {time !== null && <b>{time}</b>}
    </li>
  );
}
