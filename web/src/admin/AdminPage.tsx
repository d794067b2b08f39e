// Administration of access: who may use the server, with which rights and credentials, and what was done. One tab for each list; a tab is
// there for those who may use it.
import { type ReactNode, useEffect } from 'react';
import { useContact, useMe } from '../access/me';
import { everyProject, mayDo } from '../access/rights';
import type { Me } from '../access/types';
import { LostPage } from '../app/LostPage';
import { keyHint } from '../keys/table';
import { setTitle } from '../state/url';
import { Link } from '../ui/Link';
import { Skeleton } from '../ui/states';
import { copyText } from '../ui/toasts';
import { AuditPart } from './AuditPart';
import { GroupsPart } from './GroupsPart';
import { LinksPart } from './LinksPart';
import { RolesPart } from './RolesPart';
import { ServiceAccountsPart } from './ServiceAccountsPart';
import { TokensPart } from './TokensPart';
import { UsersPart } from './UsersPart';
import './admin.css';

interface Part {
  readonly id: string;
  readonly name: string;
  readonly server: boolean; // For administrators of the whole server only.
  readonly page: () => ReactNode;
}

const parts: readonly Part[] = [
  { id: 'users', name: 'Users', server: true, page: () => <UsersPart /> },
  { id: 'groups', name: 'Groups', server: true, page: () => <GroupsPart /> },
  { id: 'roles', name: 'Roles', server: false, page: () => <RolesPart /> },
  { id: 'service-accounts', name: 'Service accounts', server: true, page: () => <ServiceAccountsPart /> },
  { id: 'tokens', name: 'Tokens', server: true, page: () => <TokensPart /> },
  { id: 'links', name: 'Share links', server: false, page: () => <LinksPart /> },
  { id: 'audit', name: 'Audit', server: true, page: () => <AuditPart /> },
];

export function partsFor(me: Me): readonly Part[] {
  if (mayDo(me, 'admin', everyProject)) return parts;
  return mayDo(me, 'admin') ? parts.filter((part) => !part.server) : [];
}

export default function AdminPage({ part }: { part: string }) {
  const me = useMe();
  useEffect(() => setTitle(parts.find((one) => one.id === part)?.name ?? 'Administration', 'Administration'), [part]);
  if (!me) {
    return (
      <div className="page admin" id="page" tabIndex={-1}>
        <Skeleton width={320} height={24} />
      </div>
    );
  }
  if (me.kind === 'local') return <AccessOff />;
  const own = partsFor(me);
  if (own.length === 0) return <NotPermitted />;
  const known = parts.some((one) => one.id === part);
  const current = own.find((one) => one.id === part) ?? (part === '' ? own[0]! : null);
  if (!current && !known) {
    return (
      <LostPage title="There is no such page" links={<Link to="/admin" className="button primary">Administration</Link>}>
        The administration has no part called <code>{part}</code>.
      </LostPage>
    );
  }
  return (
    <div className="page admin" id="page" tabIndex={-1}>
      <h1>Administration</h1>
      <nav className="tabs" aria-label="Parts of the administration">
        {own.map((one) => (
          <Link key={one.id} to={`/admin/${one.id}`} className={one === current ? 'tab current' : 'tab'} aria-current={one === current ? 'page' : undefined}>
            {one.name}
          </Link>
        ))}
      </nav>
      {current ? current.page() : <NotPermittedNote />}
    </div>
  );
}

const howToTurnOn = `strobe access create-admin ada
strobe serve /logs --access`;

function AccessOff() {
  return (
    <div className="page admin" id="page" tabIndex={-1}>
      <h1>Administration</h1>
      <div className="access-off">
        <h2>Access control is off</h2>
        <p className="text2 prose">
          This server asks nobody who they are: whoever reaches it may look at, change and capture everything. So there are no users, roles, tokens or share links to manage, and nothing is written into an
          audit record. That is meant for one person on one machine; such a server listens on loopback only.
        </p>
        <h2>Turn it on</h2>
        <p className="text2 prose">Make the first administrator, who gets a one-time code, and start the server with <code>--access</code>:</p>
        <div className="snippet">
          <pre>{howToTurnOn}</pre>
          <button type="button" className="button small" onClick={() => void copyText(howToTurnOn, 'Commands')}>
            Copy
          </button>
        </div>
        <p className="text2 prose">
          Both commands must name the same catalogue (<code>--catalog</code>, or the usual place). For people on other machines add <code>--listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem</code>.
          Runs and profiles stay as they are; they belong to the project <code>default</code> unless <code>--project NAME=DIR</code> says otherwise. <code>docs/security/access.md</code> has the rest.
        </p>
      </div>
    </div>
  );
}

function NotPermittedNote() {
  const contact = useContact();
  const subject = useMe()?.subject;
  return (
    <p className="text2 prose">
      {subject ? <>You are signed in as <code>{subject}</code>, and that account does not administer </> : 'Whoever is not signed in does not administer '}
      this part of the server. Ask an administrator for the role <code>admin</code>. {contact}
    </p>
  );
}

function NotPermitted() {
  return (
    <div className="page admin" id="page" tabIndex={-1}>
      <div className="lost-page">
        <h1>The administration is not open to you</h1>
        <NotPermittedNote />
        <div className="links">
          <Link to="/account" className="button primary">
            Your account and tokens
          </Link>
          <Link to="/" className="button" title={keyHint('go.sessions')}>
            All sessions
          </Link>
        </div>
      </div>
    </div>
  );
}
