// "@": a time, or a time and a length. Opens under its button, Enter goes, Esc closes.

import { useEffect, useRef, useState } from 'react';
import type { TimelineSession } from './session';
import type { TimelineStore } from './state';
import { useStore } from './store';
import { formatTimeAt, parseTime } from './time';

export function GoTo({ store, session }: { store: TimelineStore; session: TimelineSession | null }) {
  const open = useStore(store, (state) => state.goToOpen);
  if (!open) return null;
  return <GoToForm store={store} session={session} />;
}

function GoToForm({ store, session }: { store: TimelineStore; session: TimelineSession | null }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);

  const close = (): void => {
    store.set({ goToOpen: false });
    document.querySelector<HTMLElement>('[data-testid=timeline-body]')?.focus();
  };
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    const [at, length] = text.split(',');
    const startPs = parseTime(at ?? '');
    const durationPs = length === undefined ? null : parseTime(length);
    if (startPs === null || (length !== undefined && (durationPs === null || durationPs <= 0))) {
      setProblem('Write a time such as 12.3s, 40 ms or 12.3s,40ms.');
      return;
    }
    const window = session?.engine.window;
    if (window !== undefined && (startPs < window.startPs || startPs > window.endPs)) {
      setProblem(`The trace goes from ${formatTimeAt(window.startPs, 1e9)} to ${formatTimeAt(window.endPs, 1e9)}.`);
      return;
    }
    session?.navigator.goToTime(startPs, durationPs);
    close();
  };
  return (
    <form className="tl-goto" onSubmit={submit} data-testid="timeline-goto">
      <label className="label" htmlFor="tl-goto-time">Time, or time and length</label>
      <input
        ref={input} id="tl-goto-time" className="input" value={text} placeholder="12.3s or 12.3s,40ms" spellCheck={false} autoComplete="off"
        aria-invalid={problem !== ''} aria-describedby="tl-goto-hint"
        onChange={(event) => {
          setText(event.target.value);
          setProblem('');
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          event.preventDefault();
          close();
        }}
      />
      <span id="tl-goto-hint" className={problem === '' ? 'muted' : 'crit'} role={problem === '' ? undefined : 'alert'}>
        {problem === '' ? 'ps ns us ms s min; a bare number is seconds' : problem}
      </span>
    </form>
  );
}
