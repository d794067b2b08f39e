// Where the frame around the selected event goes: its time comes from the event itself, its row from the tiles on screen.

import type { Engine } from './engine';
import { BAR_PX, barTop, type Track } from './layout';
import { splitEventId } from './model';
import type { Box } from './overlay';
import type { TimelineState } from './state';
import { timeToX } from './view';

export class SelectionBox {
  private found: { id: string; row: number } | null = null;
  private tried = '';

  constructor(private readonly engine: Engine) {}

  /** The row of the selection as far as it is known. */
  row(state: TimelineState): number {
    if (this.found !== null && this.found.id === state.selection) return this.found.row;
    return state.picked?.row ?? state.detail?.depth ?? 0;
  }

  box(state: TimelineState): Box | null {
    const { selection, detail, picked } = state;
    const id = splitEventId(selection ?? '');
    if (selection === null || id === null) return null;
    if (detail === null || detail.id !== selection) {
      return picked === null ? null : this.boxAt(this.engine.layout.find(picked.trackId), picked.row, picked.startPs, picked.endPs);
    }
    const track = this.engine.layout.find(id.line);
    if (track === null) return null;
    this.look(track, selection, id.event, detail.start_ps);
    return this.boxAt(track, this.row(state), detail.start_ps, detail.start_ps + detail.duration_ps);
  }

  private boxAt(track: Track | null, row: number, startPs: number, endPs: number): Box | null {
    if (track === null || row >= track.rows) return null;
    const { view, widthPx, scrollPx } = this.engine;
    return { x0: timeToX(view, widthPx, startPs), x1: timeToX(view, widthPx, endPs), y: track.y - scrollPx + barTop(row), height: BAR_PX };
  }

  private look(track: Track, selection: string, event: number, startPs: number): void {
    const { engine } = this;
    if (this.found?.id === selection || engine.motion.moving) return;
    // Looked for again only when other tiles or another part of time could show it.
    const tried = `${selection} ${engine.view.startPs} ${engine.view.durationPs} ${engine.cache.bytes} ${engine.scrollPx}`;
    if (tried === this.tried) return;
    this.tried = tried;
    const x = timeToX(engine.view, engine.widthPx, startPs);
    for (let row = 0; row < track.rows; ++row) {
      for (const drawn of engine.rowEvents(track.id, row)) {
        if (drawn.event === event && drawn.x0 <= x + 2 && drawn.x1 >= x - 2) {
          this.found = { id: selection, row };
          return;
        }
        if (drawn.x0 > x + 2) break;
      }
    }
  }
}
