// Step time and share of peak of the runs in sight, as their metrics say: asked for when the list rests, some runs at a time.
//
//   const figures = useFigures(names);
//   figures.get(run.name)?.stepSeconds
//
// Limits: sixteen runs a request, as the server takes; what was asked less than `freshMs` ago is not asked again.
import { useEffect, useRef, useState } from 'react';
import { ApiError, isAbort } from '../api/client';
import { useVisible } from '../state/url';
import { runsApi } from './client';
import { keyOf } from './runs';
import type { RunSeries } from './types';

export interface RunFigures {
  readonly stepSeconds: number | null;
  readonly stepSpark: readonly (number | null)[];
  readonly ofPeak: number | null; // Percent.
}

const runsOfRequest = 16;
const sparkPoints = 24;
const restMs = 250;
const freshMs = 10_000;
const stepMetric = 'step_time';
const peakMetric = 'mfu';
const none: RunFigures = { stepSeconds: null, stepSpark: [], ofPeak: null };

// Every run that was asked for has an entry, also one without metrics.
export function figuresOf(answer: RunSeries, asked: readonly string[]): Map<string, RunFigures> {
  const found = new Map<string, RunFigures>(asked.map((name) => [name, none]));
  for (const one of answer.series) {
    const before = found.get(one.run) ?? none;
    const last = [...one.mean].reverse().find((value) => value !== null) ?? null;
    if (one.name === stepMetric && before.stepSeconds === null) found.set(one.run, { ...before, stepSeconds: last, stepSpark: one.mean });
    if (one.name === peakMetric && before.ofPeak === null) found.set(one.run, { ...before, ofPeak: last });
  }
  return found;
}

export function useFigures(names: readonly string[]): ReadonlyMap<string, RunFigures> {
  const [figures, setFigures] = useState<ReadonlyMap<string, RunFigures>>(new Map());
  const askedAt = useRef(new Map<string, number>());
  const refused = useRef(false); // A server without metrics is asked once.
  const [round, setRound] = useState(0);
  const visible = useVisible();
  const key = names.join();

  useEffect(() => {
    if (!visible || refused.current || names.length === 0) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const now = performance.now();
      const due = names.filter((name) => now - (askedAt.current.get(name) ?? Number.NEGATIVE_INFINITY) >= freshMs);
      for (let at = 0; at < due.length; at += runsOfRequest) {
        const some = due.slice(at, at + runsOfRequest);
        try {
          const answer = await runsApi.series(keyOf(some[0]!), { by: 'step', others: some.slice(1), split: false, points: sparkPoints, names: [stepMetric, peakMetric] }, { signal: abort.signal });
          for (const name of some) askedAt.current.set(name, now);
          const found = figuresOf(answer, some);
          setFigures((old) => new Map([...old, ...found]));
        } catch (error) {
          if (isAbort(error)) return;
          // The list itself tells of a lost connection, and of runs that are gone.
          if (error instanceof ApiError && error.status === 404 && error.body.name !== 'RUN_NOT_FOUND') refused.current = true;
          break;
        }
      }
      if (!abort.signal.aborted && !refused.current) again = setTimeout(() => setRound((n) => n + 1), freshMs);
    }, restMs);
    let again: ReturnType<typeof setTimeout> | undefined;
    return () => {
      abort.abort();
      clearTimeout(timer);
      clearTimeout(again);
    };
  }, [key, visible, round]);
  return figures;
}
