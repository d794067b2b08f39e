import type { ReactNode } from 'react';
import { useEffect } from 'react';
import { setTitle } from '../state/url';
import { Link } from '../ui/Link';

// A wrong address gets its own page that names what was asked for.
export function LostPage({ title, children, links }: { title: string; children: ReactNode; links?: ReactNode }) {
  useEffect(() => setTitle(title), [title]);
  return (
    <div className="page" id="page" tabIndex={-1}>
      <div className="lost-page">
        <h1>{title}</h1>
        <p className="text2">{children}</p>
        <div className="links">
          {links}
          <Link to="/" className="button">
            All sessions
          </Link>
        </div>
      </div>
    </div>
  );
}
