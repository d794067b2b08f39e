// A long name in one line: the middle gives way, the tail that tells names apart stays.
import { tailStart } from './tailStart';

export function MiddleText({ text, className = 'mono middle' }: { text: string; className?: string }) {
  const cut = tailStart(text);
  return (
    <span className={className}>
      <span className="truncate">{text.slice(0, cut)}</span>
      {cut < text.length && <span className="nowrap">{text.slice(cut)}</span>}
    </span>
  );
}
