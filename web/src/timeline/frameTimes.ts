// How long the last frames took: the work of each and the time from the one before. For tests and for anyone who looks.

/** Ten seconds at 60 frames a second. */
const KEPT = 600;

export interface FrameTime {
  readonly atMs: number; // when the frame was asked for
  readonly workMs: number; // script time until the frame was handed to the browser
}

export class FrameTimes {
  private readonly frames: FrameTime[] = [];

  note(atMs: number, workMs: number): void {
    this.frames.push({ atMs, workMs });
    if (this.frames.length > KEPT) this.frames.shift();
  }

  get all(): readonly FrameTime[] {
    return this.frames;
  }
}
