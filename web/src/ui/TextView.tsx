// A long text, one line of it a row: only what is in sight is in the page. Finds text with a count, jumps from hit to hit.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useExportable } from '../export/registry';
import { formatCount, plural } from '../format/format';
import { useKeys } from '../keys/useKeys';
import { Icon } from './Icon';
import { copyText } from './toasts';
import { useSize } from './useSize';

const lineHeightPx = 18;
const spareLines = 20;
const copyLimit = 5_000_000; // Letters; a clipboard takes no more without stopping the tab.

interface TextViewProps {
  text: string;
  title: string;
  line?: number | null; // Shown and marked.
  onLine?: (line: number) => void;
  actions?: React.ReactNode;
}

export function TextView({ text, title, line = null, onLine, actions }: TextViewProps) {
  const lines = useMemo(() => text.split('\n'), [text]);
  const [find, setFind] = useState('');
  const [at, setAt] = useState(0);
  const [top, setTop] = useState(0);
  const [sizeRef, size] = useSize<HTMLDivElement>({ width: 800, height: 400 });
  const exportRef = useExportable<HTMLDivElement>(() => ({ kind: 'text', text }));
  const frame = useCallback(
    (element: HTMLDivElement | null) => {
      sizeRef(element);
      exportRef(element);
    },
    [sizeRef, exportRef],
  );
  const view = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const hits = useMemo(() => {
    const wanted = find.trim().toLowerCase();
    if (wanted === '') return [];
    const found: number[] = [];
    lines.forEach((one, i) => one.toLowerCase().includes(wanted) && found.push(i));
    return found;
  }, [lines, find]);
  const show = (index: number) => view.current?.scrollTo({ top: Math.max(0, index * lineHeightPx - size.height / 3) });
  const go = (step: number) => {
    if (hits.length === 0) return;
    const next = (at + step + hits.length) % hits.length;
    setAt(next);
    show(hits[next]!);
  };
  useKeys({ 'app.find': () => input.current?.focus() });
  useEffect(() => {
    setAt(0);
    if (hits.length > 0) show(hits[0]!);
  }, [hits]);
  useEffect(() => {
    if (line !== null) show(line);
  }, [line, lines]);
  const first = Math.max(0, Math.floor(top / lineHeightPx) - spareLines);
  const last = Math.min(lines.length, Math.ceil((top + size.height) / lineHeightPx) + spareLines);
  const hitSet = useMemo(() => new Set(hits), [hits]);
  const digits = String(lines.length).length;
  return (
    <section className="panel text-panel" aria-label={title}>
      <header className="table-bar">
        <h2>{title}</h2>
        <label className="filter">
          <input
            ref={input}
            className="input small"
            type="search"
            value={find}
            placeholder="Find (/)"
            aria-label={`Find in ${title}`}
            spellCheck={false}
            onChange={(event) => setFind(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
              else if (event.key === 'Escape') {
                if (find) setFind('');
                else input.current?.blur();
              } else return;
              event.preventDefault();
              event.nativeEvent.stopImmediatePropagation();
            }}
          />
        </label>
        {find.trim() !== '' && (
          <span className="nowrap" role="status">
            {hits.length === 0 ? 'not found' : `${formatCount(at + 1)} of ${plural(hits.length, 'line')}`}
          </span>
        )}
        <span className="aside">
          {plural(lines.length, 'line')}
          {actions}
          <button type="button" className="button plain small" onClick={() => void copyText(text.slice(0, copyLimit), title)}>
            <Icon name="copy" />
            Copy
          </button>
        </span>
      </header>
      <div className="data-view-frame" ref={frame}>
        <div className="data-view text-view" ref={view} tabIndex={0} role="region" aria-label={title} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
          <div className="text-lines" style={{ height: lines.length * lineHeightPx }}>
            {lines.slice(first, last).map((one, i) => {
              const index = first + i;
              const mark = index === line ? ' here' : hitSet.has(index) ? (hits[at] === index ? ' hit at' : ' hit') : '';
              return (
                <div key={index} className={`text-line${mark}`} style={{ transform: `translateY(${index * lineHeightPx}px)` }} onDoubleClick={onLine ? () => onLine(index) : undefined}>
                  <span className="line-number" aria-hidden="true" style={{ width: `${digits + 1}ch` }}>
                    {index + 1}
                  </span>
                  {one}
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </section>
  );
}
