// The one key table. Handlers, the help overlay and tooltips all read it, so they cannot disagree.
// `keys` are alternatives. Notation: "Mod" is Ctrl (Cmd on a Mac), "g o" is two strokes after each other, other names are
// KeyboardEvent.key values. A single printable character means that character as typed ("?" needs no "Shift+").

export type KeyScope = 'global' | 'list' | 'graph' | 'timeline';

export interface KeyEntry {
  readonly id: string;
  readonly scope: KeyScope;
  readonly keys: readonly string[];
  readonly label: string;
}

export const keyTable = [
  { id: 'app.search', scope: 'global', keys: ['Mod+k'], label: 'Search or jump' },
  { id: 'app.find', scope: 'global', keys: ['/'], label: 'Find in this page' },
  { id: 'app.help', scope: 'global', keys: ['?'], label: 'Keys' },
  { id: 'app.theme', scope: 'global', keys: ['.'], label: 'Next theme' },
  { id: 'app.rail', scope: 'global', keys: ['['], label: 'Fold the tool rail' },
  { id: 'app.capture', scope: 'global', keys: ['Mod+Shift+c'], label: 'Capture a profile' },
  { id: 'app.link', scope: 'global', keys: ['y'], label: 'Copy a link to this view' },
  { id: 'app.share', scope: 'global', keys: ['Y'], label: 'Share: links, who may open them' },
  { id: 'app.save', scope: 'global', keys: ['E'], label: 'Save this page as HTML' },
  { id: 'app.markdown', scope: 'global', keys: ['M'], label: 'Copy this page as Markdown' },
  { id: 'app.close', scope: 'global', keys: ['Escape'], label: 'Close the topmost layer' },
  { id: 'go.sessions', scope: 'global', keys: ['g s'], label: 'Go to sessions' },
  { id: 'go.runs', scope: 'global', keys: ['g u'], label: 'Go to runs' },
  { id: 'go.admin', scope: 'global', keys: ['g d'], label: 'Go to administration' },
  { id: 'go.overview', scope: 'global', keys: ['g o'], label: 'Go to overview' },
  { id: 'go.timeline', scope: 'global', keys: ['g t'], label: 'Go to timeline' },
  { id: 'go.ops', scope: 'global', keys: ['g p'], label: 'Go to ops' },
  { id: 'go.memory', scope: 'global', keys: ['g m'], label: 'Go to memory' },
  { id: 'go.comms', scope: 'global', keys: ['g c'], label: 'Go to comms' },
  { id: 'go.input', scope: 'global', keys: ['g i'], label: 'Go to input' },
  { id: 'go.roofline', scope: 'global', keys: ['g r'], label: 'Go to roofline' },
  { id: 'go.graph', scope: 'global', keys: ['g h'], label: 'Go to graph' },
  { id: 'go.counters', scope: 'global', keys: ['g k'], label: 'Go to counters' },
  { id: 'go.report', scope: 'global', keys: ['g a'], label: 'Go to advice' },
  { id: 'go.more', scope: 'global', keys: ['g x'], label: 'Go to more tools' },
  { id: 'go.files', scope: 'global', keys: ['g f'], label: 'Go to files' },
  { id: 'context.baseline', scope: 'global', keys: ['b'], label: 'Choose a baseline' },
  { id: 'context.hosts', scope: 'global', keys: ['e'], label: 'Choose hosts' },
  { id: 'context.swap', scope: 'global', keys: ['z'], label: 'Swap session and baseline' },
  { id: 'list.next', scope: 'list', keys: ['j', 'ArrowDown'], label: 'Next row' },
  { id: 'list.previous', scope: 'list', keys: ['k', 'ArrowUp'], label: 'Previous row' },
  { id: 'list.first', scope: 'list', keys: ['Home'], label: 'First row' },
  { id: 'list.last', scope: 'list', keys: ['End'], label: 'Last row' },
  { id: 'list.page_down', scope: 'list', keys: ['PageDown'], label: 'A screen further, in lists that load on' },
  { id: 'list.page_up', scope: 'list', keys: ['PageUp'], label: 'A screen back, in lists that load on' },
  { id: 'list.open', scope: 'list', keys: ['Enter'], label: 'Open' },
  { id: 'list.select', scope: 'list', keys: ['x'], label: 'Select or leave out the row' },
  { id: 'list.compare', scope: 'list', keys: ['c'], label: 'Compare what is selected' },
  { id: 'list.fold', scope: 'list', keys: ['ArrowLeft'], label: 'Fold, or go to the parent' },
  { id: 'list.unfold', scope: 'list', keys: ['ArrowRight'], label: 'Unfold' },
  { id: 'graph.zoom_in', scope: 'graph', keys: ['+', '='], label: 'Zoom in' },
  { id: 'graph.zoom_out', scope: 'graph', keys: ['-'], label: 'Zoom out' },
  { id: 'graph.fit', scope: 'graph', keys: ['0'], label: 'Show everything' },
  { id: 'timeline.zoom_in', scope: 'timeline', keys: ['w', 'W'], label: 'Zoom in (Shift: faster)' },
  { id: 'timeline.zoom_out', scope: 'timeline', keys: ['s', 'S'], label: 'Zoom out (Shift: faster)' },
  { id: 'timeline.pan_left', scope: 'timeline', keys: ['a', 'A'], label: 'Move left (Shift: faster)' },
  { id: 'timeline.pan_right', scope: 'timeline', keys: ['d', 'D'], label: 'Move right (Shift: faster)' },
  { id: 'timeline.previous_event', scope: 'timeline', keys: ['ArrowLeft'], label: 'Previous event' },
  { id: 'timeline.next_event', scope: 'timeline', keys: ['ArrowRight'], label: 'Next event' },
  { id: 'timeline.previous_track', scope: 'timeline', keys: ['ArrowUp'], label: 'Track above' },
  { id: 'timeline.next_track', scope: 'timeline', keys: ['ArrowDown'], label: 'Track below' },
  { id: 'timeline.fit_selection', scope: 'timeline', keys: ['f'], label: 'Fit the selection' },
  { id: 'timeline.fit_all', scope: 'timeline', keys: ['0'], label: 'Show everything' },
  { id: 'timeline.next_hit', scope: 'timeline', keys: ['n'], label: 'Next hit or run of the op' },
  { id: 'timeline.previous_hit', scope: 'timeline', keys: ['N'], label: 'Previous hit or run of the op' },
  { id: 'timeline.go_to', scope: 'timeline', keys: ['@'], label: 'Go to a time' },
  { id: 'timeline.mark', scope: 'timeline', keys: ['m'], label: 'Mark this moment' },
  { id: 'timeline.gaps', scope: 'timeline', keys: ['i'], label: 'Idle gaps' },
  { id: 'timeline.pin', scope: 'timeline', keys: ['p'], label: 'Pin or unpin the track of the selection' },
  { id: 'timeline.collapse', scope: 'timeline', keys: ['c'], label: 'Fold or unfold the group' },
] as const satisfies readonly KeyEntry[];

export type KeyId = (typeof keyTable)[number]['id'];

const entryById = new Map<string, KeyEntry>(keyTable.map((entry) => [entry.id, entry]));

export const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform ?? '');

const shownNames: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  ArrowLeft: '\u2190',
  ArrowRight: '\u2192',
  ArrowUp: '\u2191',
  ArrowDown: '\u2193',
};

export function showKey(stroke: string, mac = isMac): string {
  return stroke
    .split(' ')
    .map((chord) =>
      chord
        .split(/\+(?=.)/)
        .map((part) => {
          if (part === 'Mod') return mac ? 'Cmd' : 'Ctrl';
          return shownNames[part] ?? (chord.includes('+') && part.length === 1 ? part.toUpperCase() : part);
        })
        .join(' '),
    )
    .join(' ');
}

// For tooltips: "Capture a profile (Ctrl Shift C)".
export function keyHint(id: KeyId): string {
  const entry = entryById.get(id)!;
  return `${entry.label} (${showKey(entry.keys[0]!)})`;
}

export function keyLabel(id: KeyId): string {
  return showKey(entryById.get(id)!.keys[0]!);
}

interface Chord {
  key: string;
  mod: boolean;
  shift: boolean;
  alt: boolean;
}

function parseChord(text: string): Chord {
  const parts = text.split(/\+(?=.)/);
  const key = parts.pop()!;
  return { key, mod: parts.includes('Mod'), shift: parts.includes('Shift'), alt: parts.includes('Alt') };
}

export type KeyStroke = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>;

function chordMatches(chord: Chord, event: KeyStroke, mac: boolean): boolean {
  const mod = mac ? event.metaKey : event.ctrlKey;
  const otherMod = mac ? event.ctrlKey : event.metaKey;
  if (mod !== chord.mod || otherMod || event.altKey !== chord.alt) return false;
  if (chord.mod) return event.key.toLowerCase() === chord.key.toLowerCase() && event.shiftKey === chord.shift;
  // A printable character already says whether Shift was down.
  if (chord.key.length === 1) return event.key === chord.key;
  return event.key === chord.key && event.shiftKey === chord.shift;
}

export const sequencePauseMs = 1200;

// Turns key strokes into action ids; remembers the first stroke of a two-stroke sequence.
export class KeyMatcher {
  private prefix: string | null = null;
  private prefixTime = 0;
  private readonly now: () => number;
  private readonly mac: boolean;

  constructor(now: () => number = () => performance.now(), mac: boolean = isMac) {
    this.now = now;
    this.mac = mac;
  }

  // All actions the stroke can mean; empty while a sequence is only begun.
  match(event: KeyStroke): KeyId[] {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const prefix = this.prefix !== null && this.now() - this.prefixTime <= sequencePauseMs ? this.prefix : null;
    this.prefix = null;
    if (prefix !== null && plain) {
      const wanted = `${prefix} ${event.key}`;
      const found = keyTable.filter((entry) => (entry.keys as readonly string[]).includes(wanted)).map((entry) => entry.id);
      if (found.length > 0) return found;
    }
    const begins = plain && keyTable.some((entry) => entry.keys.some((stroke) => stroke.startsWith(event.key + ' ')));
    if (begins) {
      this.prefix = event.key;
      this.prefixTime = this.now();
      return [];
    }
    return keyTable
      .filter((entry) => entry.keys.some((stroke) => !stroke.includes(' ') && chordMatches(parseChord(stroke), event, this.mac)))
      .map((entry) => entry.id);
  }
}
