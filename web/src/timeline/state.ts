// What the panels around the canvas show. The engine writes, React reads.

import type { ApiErrorBody } from '../api/types';
import type { ColourBy } from './colour';
import type { Mark, StepMark } from './marks';
import type { EventDetail, Flow, SearchAnswer } from './model';
import type { RendererKind } from './renderer';
import type { DrawnEvent } from './scene';
import type { TimeSpan } from './view';
import { Store } from './store';

export interface TimelineState {
  readonly phase: 'loading' | 'ready' | 'failed';
  readonly error: ApiErrorBody | null;
  readonly complete: boolean; // every line is decoded
  readonly empty: boolean; // the session has no event at all
  readonly renderer: RendererKind;
  readonly selection: string | null; // event id
  readonly picked: DrawnEvent | null; // the bar that was clicked, when it stands for the selection
  readonly detail: EventDetail | null;
  readonly detailError: ApiErrorBody | null;
  readonly area: TimeSpan | null;
  readonly panel: 'event' | 'area' | 'gaps'; // the bottom panel, when it has something to show
  readonly gapsPlane: string | null; // whose gaps; null: the first one
  readonly filter: string;
  readonly hideEmpty: boolean;
  readonly pinnedCount: number;
  readonly flowsOn: boolean; // arrows of all that is in view, not only of the selection
  readonly flows: readonly Flow[]; // of the selection
  readonly flowsTotal: number;
  readonly viewFlows: readonly Flow[];
  readonly viewFlowsTotal: number;
  readonly marks: readonly Mark[];
  readonly steps: readonly StepMark[];
  readonly modules: readonly StepMark[]; // programs as one device ran them
  readonly twoOn: boolean; // the baseline's timeline is below
  readonly colourBy: ColourBy;
  readonly query: string;
  readonly search: SearchAnswer | null;
  readonly searching: boolean;
  readonly searchError: ApiErrorBody | null;
  readonly hitIndex: number; // of search.hits; -1 when none is selected
  readonly noEvents: boolean; // everything in view is loaded and there is nothing
  readonly failedTiles: number;
  readonly tileError: string;
  readonly goToOpen: boolean;
  readonly notice: string; // one line for the user and the screen reader: "No further event on this line."
}

export const INITIAL_STATE: TimelineState = {
  phase: 'loading', error: null, complete: false, empty: false, renderer: 'webgl2', selection: null, picked: null, detail: null,
  detailError: null, area: null, panel: 'event', gapsPlane: null, filter: '', hideEmpty: false, pinnedCount: 0, flowsOn: false, flows: [], flowsTotal: 0, viewFlows: [],
  viewFlowsTotal: 0, marks: [], steps: [], modules: [], twoOn: false, colourBy: 'category', query: '', search: null, searching: false, searchError: null, hitIndex: -1, noEvents: false,
  failedTiles: 0, tileError: '', goToOpen: false, notice: '',
};

export type TimelineStore = Store<TimelineState>;

export function makeStore(): TimelineStore {
  return new Store<TimelineState>(INITIAL_STATE);
}
