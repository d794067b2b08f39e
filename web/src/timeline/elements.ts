// The elements of the page that the engine draws into. React makes them once and never touches their contents.

export interface Elements {
  readonly root: HTMLElement; // carries the data attributes
  readonly body: HTMLElement; // the focusable drawing area
  readonly bars: HTMLElement; // holds the renderer's canvas, which is replaced when a GPU context is lost
  readonly overlay: HTMLCanvasElement;
  readonly ruler: HTMLCanvasElement;
  readonly minimap: HTMLCanvasElement;
  readonly labels: HTMLElement;
  readonly corner: HTMLElement; // the time of the left edge, or from which the ruler counts
  readonly cornerNote: HTMLElement; // which of the two
  readonly total: HTMLElement; // length of the session
  readonly scrollTrack: HTMLElement;
  readonly scrollThumb: HTMLElement;
}
