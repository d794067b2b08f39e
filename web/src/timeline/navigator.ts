// Selecting and walking: event details, previous and next, search hits, runs of an op, the nearest event.
// Every request belongs to a purpose; a newer one of the same purpose aborts the older, so no late answer wins.

import { api, isAbort, toApiError } from '../api/client';
import { formatCount, formatTime } from '../format/format';
import type { Engine } from './engine';
import { nextHit } from './hitOrder';
import { barTop, type Track } from './layout';
import { splitEventId, type EventDetail, type SearchAnswer, type SearchHit } from './model';
import type { DrawnEvent } from './scene';
import { SearchMark, isExpression } from './searchMark';
import type { TimelineStore } from './state';
import { fitSpan, makeView, revealSpan, viewEndPs } from './view';

/** Details kept for going back and forth. */
const MAX_DETAILS = 200;
/** Hits asked for at once; where one is among the others the server tells. */
const HIT_PAGE = 1000;
/** Lines asked when a view has no events: more requests than this would be felt. */
const MAX_NEAREST_LINES = 12;

type Purpose = 'pick' | 'detail' | 'fit' | 'neighbour' | 'search' | 'step' | 'rank' | 'runs' | 'nearest';

const searchBy = (query: string): { q: string } | { expression: string } => (isExpression(query) ? { expression: query } : { q: query });

export class Navigator {
  private readonly running = new Map<Purpose, AbortController>();
  private readonly details = new Map<string, EventDetail>();
  private awaited: -1 | 1 | null = null; // a step to a hit, wanted before the hits were there
  private runs: { name: string; hits: readonly SearchHit[]; next: boolean } | null = null;

  constructor(
    private readonly sessionId: string, private readonly engine: Engine, private readonly store: TimelineStore,
    private readonly onSelected: (id: string | null) => void,
  ) {}

  dispose(): void {
    for (const controller of this.running.values()) controller.abort();
    this.running.clear();
  }

  private begin(purpose: Purpose): AbortSignal {
    this.running.get(purpose)?.abort();
    const controller = new AbortController();
    this.running.set(purpose, controller);
    return controller.signal;
  }

  private notice(text: string): void {
    // The same words twice must be announced twice.
    this.store.set({ notice: this.store.get().notice === text ? text + '\u00a0' : text });
  }

  private async quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isAbort(error)) this.notice(toApiError(error).message);
    }
  }

  // ---- selection ---------------------------------------------------------------------------------------------------

  select(id: string | null, options: { picked?: DrawnEvent | null; reveal?: boolean; push?: boolean; hitIndex?: number } = {}): void {
    const push = options.push ?? true;
    this.awaited = null; // Who chooses something else does not want to be taken to a hit any more.
    this.running.get('neighbour')?.abort();
    this.running.get('pick')?.abort();
    if (id === null) {
      this.begin('detail');
      this.store.set({ selection: null, picked: null, detail: null, detailError: null, hitIndex: -1 });
    } else {
      const hits = this.store.get().search?.hits ?? [];
      this.store.set({
        panel: 'event', selection: id, picked: options.picked ?? null, detailError: null, hitIndex: options.hitIndex ?? hits.findIndex((hit) => hit.event === id),
        detail: this.details.get(id) ?? null,
      });
      if (this.store.get().hitIndex < 0 && this.store.get().search?.truncated === true) void this.findRank(id);
      void this.loadDetail(id, options.reveal ?? false);
    }
    if (push) this.onSelected(id);
  }

  pickAndSelect(picked: DrawnEvent): void {
    const at = (event: number): string => `${picked.lineId}.${event}`;
    if (picked.longest.length < 2) {
      this.select(at(picked.event), { picked });
      return;
    }
    // Which of them is the longest the server knows.
    const signal = this.begin('pick');
    void this.longestOf(picked, signal).then(
      (detail) => !signal.aborted && this.select(detail.id, { picked }),
      (error: unknown) => isAbort(error) || signal.aborted || this.select(at(picked.event), { picked }),
    );
  }

  /** The longest event that a bar stands for, of those that may be it. */
  async longestOf(drawn: DrawnEvent, signal: AbortSignal): Promise<EventDetail> {
    const details = await Promise.all(drawn.longest.map((event) => this.detailOf(`${drawn.lineId}.${event}`, signal)));
    return details.reduce((best, one) => (one.duration_ps > best.duration_ps ? one : best));
  }

  async detailOf(id: string, signal: AbortSignal): Promise<EventDetail> {
    const known = this.details.get(id);
    if (known !== undefined) return known;
    const detail = await api.event(this.sessionId, id, { signal });
    if (this.details.size >= MAX_DETAILS) this.details.delete(this.details.keys().next().value!);
    this.details.set(id, detail);
    return detail;
  }

  private async loadDetail(id: string, reveal: boolean): Promise<void> {
    const signal = this.begin('detail');
    try {
      const detail = await this.detailOf(id, signal);
      if (this.store.get().selection !== id) return;
      this.store.set({ detail, detailError: null });
      if (reveal) this.reveal(detail);
    } catch (error) {
      if (!isAbort(error) && this.store.get().selection === id) this.store.set({ detailError: toApiError(error).body });
    }
  }

  reveal(detail: EventDetail): void {
    const id = splitEventId(detail.id);
    if (id === null) return;
    this.engine.reveal(id.line);
    this.engine.scrollToTrack(id.line, detail.depth ?? 0);
    const span = { startPs: detail.start_ps, endPs: detail.start_ps + detail.duration_ps };
    this.engine.glide(revealSpan(this.engine.motion.target, span, this.engine.window));
  }

  fitSelection(): void {
    const { area, selection } = this.store.get();
    if (area !== null) this.engine.fitTo(area);
    else if (selection === null) this.notice('Nothing is selected.');
    else {
      void this.quietly(async () => {
        const detail = await this.detailOf(selection, this.begin('fit'));
        this.engine.fitTo({ startPs: detail.start_ps, endPs: detail.start_ps + detail.duration_ps });
      });
    }
  }

  // ---- walking -----------------------------------------------------------------------------------------------------

  stepEvent(direction: 'previous' | 'next'): void {
    const id = splitEventId(this.store.get().selection ?? '');
    if (id === null) {
      this.selectFirstInView();
      return;
    }
    const signal = this.begin('neighbour');
    void this.quietly(async () => {
      const around = await api.neighbours(this.sessionId, { line: id.line, event: id.event }, { signal });
      const to = around[direction];
      if (to === null) this.notice(direction === 'next' ? 'This is the last event of the line.' : 'This is the first event of the line.');
      else this.select(to, { reveal: true });
    });
  }

  /** Up and down: first through the nested rows of a line, then to the track above or below. */
  stepTrack(direction: -1 | 1): void {
    const { selection, detail } = this.store.get();
    const id = splitEventId(selection ?? '');
    if (id === null) {
      this.selectFirstInView();
      return;
    }
    if (direction < 0 && detail !== null && detail.parent !== null && detail.parent.startsWith(id.line + '.')) {
      this.select(detail.parent, { reveal: true });
      return;
    }
    const child = direction > 0 ? this.childOf(id.line, detail) : null;
    if (child !== null) {
      this.pickAndSelect(child);
      return;
    }
    const lines = this.engine.layout.tracks.filter((track) => track.kind === 'line' && track.line?.event_count !== 0);
    const next = lines[lines.findIndex((track) => track.id === id.line) + direction];
    if (next === undefined) {
      this.notice(direction < 0 ? 'This is the first track.' : 'This is the last track.');
      return;
    }
    const { view } = this.engine;
    const atPs = detail === null ? view.startPs + Math.floor(view.durationPs / 2) : detail.start_ps;
    const signal = this.begin('neighbour');
    void this.quietly(async () => {
      const near = await api.neighbours(this.sessionId, { line: next.id, at_ps: atPs }, { signal });
      if (near.event === null) this.notice('The track has no events.');
      else this.select(near.event, { reveal: true });
    });
  }

  private childOf(line: string, detail: EventDetail | null): DrawnEvent | null {
    const track = this.engine.layout.find(line);
    if (track === null || detail === null) return null;
    const end = detail.start_ps + detail.duration_ps;
    const own = splitEventId(detail.id)!.event;
    const row = this.rowOnScreen(track, own) ?? detail.depth;
    if (row === null || row + 1 >= track.rows) return null;
    const inside = this.engine.rowEvents(line, row + 1).filter((event) => event.startPs >= detail.start_ps && event.endPs <= end);
    return inside[0] ?? null;
  }

  private rowOnScreen(track: Track, event: number): number | null {
    for (let row = 0; row < track.rows; ++row) {
      if (this.engine.rowEvents(track.id, row).some((drawn) => drawn.event === event)) return row;
    }
    return null;
  }

  private selectFirstInView(): void {
    const { width, height } = { width: this.engine.widthPx, height: this.engine.heightPx };
    let best: DrawnEvent | null = null;
    for (const event of this.engine.drawnEvents()) {
      if (event.y < 0 || event.y > height - barTop(1)) continue;
      const distance = Math.abs((event.x0 + event.x1) / 2 - width / 2) + event.y * 4;
      const known = best === null ? Infinity : Math.abs((best.x0 + best.x1) / 2 - width / 2) + best.y * 4;
      if (distance < known) best = event;
    }
    if (best === null) this.notice('No event is in view.');
    else this.pickAndSelect(best);
  }

  // ---- search --------------------------------------------------------------------------------------------------------

  search(query: string): void {
    const signal = this.begin('search');
    this.awaited = null;
    this.engine.setMark(query === '' ? null : new SearchMark(query, []));
    if (query === '') {
      this.store.set({ query, search: null, searching: false, searchError: null, hitIndex: -1 });
      return;
    }
    this.store.set({ query, searching: true, searchError: null });
    void this.runSearch(query, signal);
  }

  private async runSearch(query: string, signal: AbortSignal): Promise<void> {
    try {
      const { selection } = this.store.get();
      const search = await api.search(this.sessionId, { ...searchBy(query), limit: HIT_PAGE }, { signal });
      const hitIndex = search.hits.findIndex((hit) => hit.event === selection);
      this.store.set({ search, searching: false, hitIndex });
      if (hitIndex < 0 && search.truncated && selection !== null) void this.findRank(selection);
      this.engine.setMark(new SearchMark(query, search.hits, !search.truncated));
      const { awaited } = this;
      this.awaited = null;
      if (search.total === 0) this.notice(`No event matches "${query}".`);
      else if (awaited !== null) this.stepHit(awaited);
    } catch (error) {
      if (isAbort(error)) return;
      this.awaited = null;
      this.store.set({ searching: false, search: null, searchError: toApiError(error).body });
    }
  }

  /** Next or previous hit of the search, as soon as there are hits; without a search, of the runs of the selected op. */
  stepHit(direction: -1 | 1): void {
    const { search, searching, detail, query } = this.store.get();
    if (query !== '' && searching) {
      this.awaited = direction;
      return;
    }
    if (query !== '' && search !== null) {
      void this.quietly(() => this.stepIn(search, query, direction));
      return;
    }
    if (detail === null) {
      this.notice('Search for something or select an event first.');
      return;
    }
    void this.quietly(async () => {
      const signal = this.begin('runs');
      const asked = `/^${detail.name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$/`;
      if (this.runs?.name !== detail.name) {
        const answer = await api.search(this.sessionId, { q: asked, limit: HIT_PAGE }, { signal });
        this.runs = { name: detail.name, hits: answer.hits, next: answer.truncated };
      }
      this.goToHit(this.runs.hits, direction, 'Run');
    });
  }

  /** The words change, or Escape: no longer go to a hit once there are some. */
  forgetStep(): void {
    this.awaited = null;
  }

  /** Of an event beyond the first page of hits: is it one, and which. */
  private async findRank(id: string): Promise<void> {
    const { query, search } = this.store.get();
    const signal = this.begin('rank');
    try {
      const { near } = await api.search(this.sessionId, { ...searchBy(query), limit: 1, near: id }, { signal });
      if (near?.is_hit === true && this.store.get().selection === id && this.store.get().search === search) this.store.set({ hitIndex: near.rank });
    } catch {
      // Which hit it is, is a nicety; what is wrong with the event its details say.
    }
  }

  private async stepIn(search: SearchAnswer, query: string, direction: -1 | 1): Promise<void> {
    // With all hits here no question is needed.
    if (!search.truncated) {
      this.goToHit(search.hits, direction, 'Hit');
      return;
    }
    const { selection } = this.store.get();
    const signal = this.begin('step');
    const at = selection === null ? { near_ps: this.positionPs() } : { near: selection };
    const { near } = await api.search(this.sessionId, { ...searchBy(query), limit: 1, ...at }, { signal });
    if (near === undefined || near === null) {
      this.goToHit(search.hits, direction, 'Hit');
      return;
    }
    let hit = direction > 0 ? near.next : near.previous;
    let index = direction > 0 ? near.rank + (near.is_hit ? 1 : 0) : near.rank - 1;
    const wrapped = hit === null;
    if (hit === null) [hit, index] = await this.otherEnd(search, query, direction, signal);
    if (hit === null) return;
    this.notice(`Hit ${formatCount(index + 1)} of ${formatCount(search.total)}: ${hit.name}${wrapped ? ', from the other end again' : ''}`);
    this.select(hit.event, { reveal: true, hitIndex: index });
  }

  private async otherEnd(search: SearchAnswer, query: string, direction: -1 | 1, signal: AbortSignal): Promise<[SearchHit | null, number]> {
    if (direction > 0) return [search.hits[0] ?? null, 0];
    const { near } = await api.search(this.sessionId, { ...searchBy(query), limit: 1, near_ps: this.engine.window.endPs + 1 }, { signal });
    return [near?.previous ?? null, search.total - 1];
  }

  private positionPs(): number {
    const { detail } = this.store.get();
    return detail?.start_ps ?? this.engine.view.startPs;
  }

  private goToHit(hits: readonly SearchHit[], direction: -1 | 1, what: string): void {
    const { index, wrapped } = nextHit(hits, this.store.get().selection, this.positionPs(), direction);
    const hit = hits[index];
    if (hit === undefined) {
      this.notice(`There is no ${what.toLowerCase()}.`);
      return;
    }
    this.notice(`${what} ${formatCount(index + 1)} of ${formatCount(hits.length)}: ${hit.name}${wrapped ? ', from the other end again' : ''}`);
    this.select(hit.event, { reveal: true });
  }

  // ---- nearest event and go to ---------------------------------------------------------------------------------------

  /** The event nearest to the view on the tracks in sight, on one side of it. */
  goToNearest(direction: 'previous' | 'next'): void {
    const signal = this.begin('nearest');
    void this.quietly(async () => {
      const perLine = await Promise.all(this.linesTowards(direction).map((line) => this.nearOn(line, direction, signal)));
      const candidates = perLine.flat();
      const side = direction === 'next' ? 1 : -1;
      candidates.sort((a, b) => side * (a.start_ps - b.start_ps));
      const best = candidates[0];
      if (best === undefined) {
        this.notice(direction === 'next' ? 'No event follows on the tracks in sight.' : 'No event lies before on the tracks in sight.');
        return;
      }
      this.notice(`${best.name}, ${formatTime(best.duration_ps)}`);
      this.select(best.id, { reveal: true });
    });
  }

  private async nearOn(line: string, direction: 'previous' | 'next', signal: AbortSignal): Promise<EventDetail[]> {
    const { view } = this.engine;
    const atPs = direction === 'next' ? viewEndPs(view) : view.startPs;
    const near = await api.neighbours(this.sessionId, { line, at_ps: atPs }, { signal });
    const ids = [...new Set([near.event, near[direction]])].filter((id) => id !== null);
    const details = await Promise.all(ids.map((id) => this.detailOf(id, signal)));
    return details.filter((detail) => (direction === 'next' ? detail.start_ps >= view.startPs : detail.start_ps < view.startPs));
  }

  private linesTowards(direction: 'previous' | 'next'): string[] {
    const { layout, scrollPx, heightPx, view } = this.engine;
    const lines: string[] = [];
    for (const track of layout.tracks) {
      const line = track.line;
      if (line === null || line.event_count === 0 || track.y + track.height < scrollPx || track.y > scrollPx + heightPx) continue;
      const lies = direction === 'next' ? (line.end_ps ?? Infinity) >= view.startPs : (line.start_ps ?? -Infinity) <= view.startPs;
      if (lies) lines.push(line.id);
    }
    return lines.slice(0, MAX_NEAREST_LINES);
  }

  goToTime(startPs: number, durationPs: number | null): void {
    this.engine.cursorPs = startPs;
    if (durationPs !== null) {
      this.engine.fitTo({ startPs, endPs: startPs + durationPs });
      return;
    }
    const length = this.engine.motion.target.durationPs;
    const { window } = this.engine;
    const span = { startPs, endPs: startPs };
    const wanted = makeView(startPs - Math.floor(length / 2), length);
    this.engine.glide(length > (window.endPs - window.startPs) / 2 ? fitSpan({ startPs, endPs: startPs + length / 100 }, window) : revealSpan(wanted, span, window));
  }
}
