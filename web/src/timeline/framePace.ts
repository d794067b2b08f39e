// How often a frame is worth its cost while pieces come. Where the GPU is a CPU, what follows a frame's own work (waiting for the last
// one to be drawn, painting) takes longer than the work, and pieces wait for it: so the cost is measured up to the next task.
//
//   const pace = new FramePace((task) => ...);     // runs a task once the browser has shown the frame
//   pace.began(nowMs); ... pace.pauseMs(pending)   // until the next frame for pieces that came

/** While more pieces than this are awaited, frames are made this often for those that come. */
const MANY_PIECES = 12;
const MANY_PIECES_PAUSE_MS = 100;
/** From this cost on pieces get most of the time: a frame at most in so many times its cost. */
const DEAR_FRAME_MS = 20;
const SHARE = 5;
const LONGEST_PAUSE_MS = 400;
/** Of the newest measurement, so that one slow frame says little. */
const NEWEST = 0.4;

export class FramePace {
  private costMs = 0;
  private measuring = false;

  constructor(private readonly afterFrame: (task: () => void) => void, private readonly now: () => number) {}

  /** At the start of a frame. */
  began(startMs: number): void {
    if (this.measuring) return;
    this.measuring = true;
    this.afterFrame(() => {
      this.measuring = false;
      this.costMs += NEWEST * (this.now() - startMs - this.costMs);
    });
  }

  pauseMs(pending: number): number {
    // What came last is shown at once: nothing waits for the time that it takes.
    if (pending === 0) return 0;
    const dear = this.costMs < DEAR_FRAME_MS ? 0 : Math.min(LONGEST_PAUSE_MS, SHARE * this.costMs);
    return Math.max(dear, pending >= MANY_PIECES ? MANY_PIECES_PAUSE_MS : 0);
  }
}

/** A message is delivered after the frame in which it was sent has been handed on. */
export function messageAfterFrame(): (task: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  let waiting: (() => void) | null = null;
  port1.onmessage = () => {
    const task = waiting;
    waiting = null;
    task?.();
  };
  return (task) => {
    waiting = task;
    port2.postMessage(null);
  };
}
