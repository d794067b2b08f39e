// Who one is to this server: rights, password, sign-ins, tokens and links of one's own.
import { PanelTableExport } from '../export/TableExport';
import { useEffect, useState } from 'react';
import { accessApi } from '../access/client';
import { useContact, useMe } from '../access/me';
import { mayDo, rightWords, shortName } from '../access/rights';
import type { Me, Right } from '../access/types';
import { leaveForSignIn } from '../access/signOut';
import { setTitle } from '../state/url';
import { signInUrl } from '../api/client';
import { Link } from '../ui/Link';
import { useChange } from '../ui/forms';
import { ErrorNotice, Field, Skeleton } from '../ui/states';
import { LinksPart } from './LinksPart';
import { TokensPart } from './TokensPart';
import './admin.css';

const leastPassword = 12; // As the server wants it.

export default function AccountPage() {
  const me = useMe();
  useEffect(() => setTitle('Account'), []);
  if (!me) {
    return (
      <div className="page admin" id="page" tabIndex={-1}>
        <Skeleton width={280} height={24} />
      </div>
    );
  }
  if (me.kind === 'local') {
    return (
      <div className="page admin" id="page" tabIndex={-1}>
        <h1>Account</h1>
        <p className="text2 prose">
          Access control is off on this server, so there are no accounts: everybody who reaches it may do everything. <Link to="/admin">How to turn it on</Link>
        </p>
      </div>
    );
  }
  if (me.kind === 'link') {
    return (
      <div className="page admin" id="page" tabIndex={-1}>
        <h1>Not signed in</h1>
        <p className="text2 prose">You look at what a share link opens, without an account.</p>
        <p>
          <a className="button primary" href={signInUrl({ pathname: '/', search: '', hash: '' })}>
            Sign in
          </a>
        </p>
      </div>
    );
  }
  return (
    <div className="page admin" id="page" tabIndex={-1}>
      <div className="admin-line">
        <h1>{me.display_name || shortName(me.subject ?? '')}</h1>
        <code>{me.subject}</code>
        <span className="grow" />
        <SignOutButtons />
      </div>
      <RightsTable me={me} />
      <TokensPart own />
      {mayDo(me, 'edit') && <LinksPart own />}
      {me.csrf_token !== null && <PasswordForm />}
    </div>
  );
}

function SignOutButtons() {
  const { error, busy, send } = useChange<unknown>(() => leaveForSignIn());
  return (
    <>
      {error && <span className="crit">{error.body.message}</span>}
      <button type="button" className="button" disabled={busy} onClick={() => send(() => accessApi.signOut(true))} title="In this browser and in every other one">
        Sign out everywhere
      </button>
      <button type="button" className="button" disabled={busy} onClick={() => send(() => accessApi.signOut(false))}>
        Sign out
      </button>
    </>
  );
}

function words(rights: readonly Right[]): string {
  return rights.map((right) => rightWords[right]).join(', ');
}

function RightsTable({ me }: { me: Me }) {
  const { everywhere = [], projects = {} } = me.rights ?? {};
  const rows: (readonly [string, readonly Right[]])[] = [...(everywhere.length > 0 ? [['All projects', everywhere] as const] : []), ...Object.entries(projects).sort(([a], [b]) => a.localeCompare(b))];
  const contact = useContact(rows.length === 0);
  if (rows.length === 0) {
    return (
      <div className="notice lossy">
        <div className="grow prose">
          <strong>You have no role yet,</strong> so there is nothing to see but what share links open to you. Ask an administrator for a role in your project. {contact}
        </div>
      </div>
    );
  }
  return (
    <div className="panel rights">
      <header>
        <h2>What you may do</h2>
        <span className="aside">
          <PanelTableExport title="What you may do" />
        </span>
      </header>
      <table className="table" aria-label="What you may do">
        <colgroup>
          <col style={{ width: 240 }} />
          <col />
        </colgroup>
        <thead>
          <tr>
            <th>Project</th>
            <th>You may</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([project, rights]) => (
            <tr key={project}>
              <td>{project}</td>
              <td>{words(rights)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PasswordForm() {
  const [old, setOld] = useState('');
  const [next, setNext] = useState('');
  const { error, busy, send } = useChange<unknown>(() => leaveForSignIn());
  const short = next !== '' && next.length < leastPassword;
  return (
    <section className="password" aria-label="Password">
      <h2>Password</h2>
      <p className="text2 prose">All your sign-ins end with a new password, this one too. Tokens go on. People of a sign-in provider change it there.</p>
      <form
        className="add-line"
        onSubmit={(event) => {
          event.preventDefault();
          send(() => accessApi.changePassword(old, next));
        }}
      >
        <Field label="Present password">
          <input className="input" type="password" autoComplete="current-password" value={old} onChange={(event) => setOld(event.target.value)} required />
        </Field>
        <Field label={`New password, at least ${leastPassword} characters`}>
          <input className="input" type="password" autoComplete="new-password" value={next} onChange={(event) => setNext(event.target.value)} required aria-invalid={short} />
        </Field>
        <button type="submit" className="button" disabled={busy || !old || next.length < leastPassword}>
          Change
        </button>
      </form>
      {error && <ErrorNotice what="The password was not changed." error={error} />}
    </section>
  );
}
