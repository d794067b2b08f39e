// Keeps the legend's times those of what is on screen: measured once frames have paused, and only when something in them is another.
//
//   const legend = new LegendTimes(() => engine's input, (times) => show(times));
//   legend.drawn(input, arrived, waits);     // after every frame

import { countedLines, type CategoryTime } from './categoryTimes';
import type { LinesAnswer } from './model';
import { Scene, type SceneInput } from './scene';
import { sameView } from './view';

/** While frames follow each other, figures that flicker say nothing. */
const REST_MS = 120;

interface Measured {
  readonly input: SceneInput;
  readonly arrived: number;
}

export class LegendTimes {
  private readonly scene = new Scene();
  private counted: ReadonlySet<string> = new Set();
  private last: Measured | null = null;
  private shown: readonly CategoryTime[] = [];
  private timer = 0;

  constructor(private readonly now: () => SceneInput, private readonly show: (times: readonly CategoryTime[]) => void) {}

  dispose(): void {
    window.clearTimeout(this.timer);
  }

  setLines(answer: LinesAnswer): void {
    this.counted = countedLines(answer.hosts.flatMap((host) => host.planes));
    this.last = null;
  }

  /** `arrived`: how many tiles have come so far; while more are awaited they have the time. */
  drawn(input: SceneInput, arrived: number, waits: boolean): void {
    if (waits) {
      window.clearTimeout(this.timer);
      this.timer = 0;
      this.last = null;
      return;
    }
    if (this.last !== null && this.timer === 0 && this.last.arrived === arrived && isSame(this.last.input, input)) return;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.measure(arrived), REST_MS);
  }

  private measure(arrived: number): void {
    this.timer = 0;
    const input = this.now();
    this.last = { input, arrived };
    const times = input.colourBy === 'category' ? this.scene.timesByCategory(input, this.counted) : [];
    const { shown } = this;
    if (times.length === shown.length && times.every((one, i) => one.category === shown[i]!.category && one.timePs === shown[i]!.timePs)) return;
    this.shown = times;
    this.show(times);
  }
}

function isSame(a: SceneInput, b: SceneInput): boolean {
  return sameView(a.view, b.view) && a.layout === b.layout && a.scrollPx === b.scrollPx && a.widthPx === b.widthPx && a.heightPx === b.heightPx && a.colourBy === b.colourBy;
}
