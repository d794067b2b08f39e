// A long name in one line: the middle gives way, the tail that tells names apart stays.
import { Link } from './Link';
import { tailStart } from './tailStart';

interface Props {
  readonly text: string;
  readonly to?: string | null; // where the name leads
  readonly className?: string;
}

export function MiddleText({ text, to = null, className = 'mono middle' }: Props) {
  const cut = tailStart(text);
  const content = (
    <>
      <span className="truncate">{text.slice(0, cut)}</span>
      {cut < text.length && <span className="nowrap">{text.slice(cut)}</span>}
    </>
  );
  return to === null ? (
    <span className={className}>{content}</span>
  ) : (
    <Link to={to} className={className}>
      {content}
    </Link>
  );
}
