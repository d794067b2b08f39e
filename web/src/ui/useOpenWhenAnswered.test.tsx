import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type OpenWhenAnswered, useOpenWhenAnswered } from './useOpenWhenAnswered';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let root: Root;
let enter: OpenWhenAnswered;
let opened: string[];

function Probe({ words, rows }: { words: string; rows: { of: string; first: string } }) {
  enter = useOpenWhenAnswered(words, rows.of === words, () => opened.push(rows.first));
  return null;
}
const old = { of: '', first: 'old' };
const show = (words: string, rows = old) => act(async () => root.render(<Probe words={words} rows={rows} />));
const press = () => act(async () => enter.press());

beforeEach(() => {
  root = createRoot(document.createElement('div'));
  opened = [];
});
afterEach(() => act(() => root.unmount()));

it('Enter opens at once what is the answer', async () => {
  await show('');
  await press();
  expect(opened).toEqual(['old']);
});

it('Enter waits for the answer to the words, and never opens a row of the old ones', async () => {
  await show('llama');
  await press();
  expect([opened, enter.waits]).toEqual([[], true]);
  await show('llama', { of: 'llama', first: 'new' });
  expect([opened, enter.waits]).toEqual([['new'], false]);
  await show('llama', { of: 'llama', first: 'refreshed' });
  expect(opened).toEqual(['new']);
});

it('other words or Escape give it up', async () => {
  await show('llama');
  await press();
  await show('llamas');
  await show('llamas', { of: 'llamas', first: 'new' });
  await show('x');
  await press();
  await act(async () => enter.forget());
  await show('x', { of: 'x', first: 'newer' });
  expect(opened).toEqual([]);
});
