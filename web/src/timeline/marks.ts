// Marks of the user (a time and a note, kept in the address) and the steps of the profile, drawn over the tracks.
//
//   marksFromText('12.3s:first stall~40ms')   ->  [{ atPs, note: 'first stall' }, { atPs, note: '' }], by time

import { formatExactTime, parseTime } from './time';

export interface Mark {
  readonly atPs: number;
  readonly note: string;
}

/** A step, or a program as a device ran it. */
export interface StepMark {
  readonly name: string;
  readonly startPs: number;
  readonly endPs: number;
}

export function spansOf(items: readonly { name: string; start_ps: number; duration_ps: number }[]): StepMark[] {
  return items.map((one) => ({ name: one.name, startPs: one.start_ps, endPs: one.start_ps + one.duration_ps }));
}

/** "jit_step(1234567890)" is "jit_step 02d2": a name and four hex digits of its fingerprint. */
export function shortModule(name: string): string {
  const match = /^(.*)\((\d+)\)$/.exec(name);
  if (match === null) return name;
  return `${match[1]} ${(BigInt(match[2]!) & 0xffffn).toString(16).padStart(4, '0')}`;
}

/** Addresses have to stay short enough for servers and chats. */
export const MAX_MARKS = 50;
export const MAX_NOTE_CHARS = 120;

export function marksFromText(text: string): Mark[] {
  const marks: Mark[] = [];
  for (const part of text.split('~')) {
    const colon = part.indexOf(':');
    const atPs = parseTime(colon < 0 ? part : part.slice(0, colon), 'ps');
    if (atPs === null || marks.length === MAX_MARKS) continue;
    marks.push({ atPs, note: colon < 0 ? '' : part.slice(colon + 1).slice(0, MAX_NOTE_CHARS) });
  }
  return sorted(marks);
}

export function marksToText(marks: readonly Mark[]): string {
  return marks.map((mark) => formatExactTime(mark.atPs) + (mark.note === '' ? '' : `:${mark.note}`)).join('~');
}

/** One mark a moment; "~" separates marks in the address, so notes have none. */
export function withMark(marks: readonly Mark[], mark: Mark): readonly Mark[] {
  const others = marks.filter((one) => one.atPs !== mark.atPs);
  if (others.length >= MAX_MARKS) return marks;
  return sorted([...others, { atPs: mark.atPs, note: mark.note.replaceAll('~', ' ').slice(0, MAX_NOTE_CHARS) }]);
}

function sorted(marks: Mark[]): Mark[] {
  return marks.sort((a, b) => a.atPs - b.atPs);
}
