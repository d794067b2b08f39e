// Hands on what is in front of one: the address as it is, or a link that opens it for people without a role. Links that were made are
// listed below and can be taken back.
import { useState } from 'react';
import { accessApi } from '../access/client';
import { useMe } from '../access/me';
import { mayDo, quoted, shortName } from '../access/rights';
import type { Audience, Me, ShareLink } from '../access/types';
import { ended, When } from '../admin/AccessTable';
import { api } from '../api/client';
import type { SessionDetail } from '../api/types';
import { defaultProject } from '../runs/client';
import { useLocation } from '../state/router';
import { Dialog } from '../ui/Dialog';
import { useChange } from '../ui/forms';
import { Icon } from '../ui/Icon';
import { ErrorNotice, Field, Select } from '../ui/states';
import { copyText } from '../ui/toasts';
import { useResource } from '../ui/useResource';
import { lifetimes, linkAddress, type ShareTarget, shareTarget, usualDays } from './links';
import './share.css';

const sharedNames: Readonly<Record<ShareTarget['kind'], string>> = { session: 'session', run: 'run' };

export default function ShareDialog({ session, onClose }: { session: SessionDetail | null; onClose: () => void }) {
  const target = shareTarget(useLocation());
  const me = useMe();
  // The project says who may share; the page itself has not told it when it is still loading.
  const asked = target?.kind === 'session' && !session ? target.id : null;
  const found = useResource(asked ? `share/${asked}` : null, (signal) => api.session(asked!, { signal })).value;
  const project = target?.kind === 'run' ? (target.id.split('/')[1] ?? defaultProject) : ((session ?? found)?.project ?? null);
  return (
    <Dialog title={target ? `Share this ${sharedNames[target.kind]}` : 'Share this page'} onClose={onClose} width={620}>
      <div className="dialog-form share">
        <PlainAddress me={me} project={project} target={target} />
        {me && me.kind !== 'local' && target && project !== null && (mayDo(me, 'edit', project) ? <Links me={me} project={project} target={target} /> : <MayNotShare me={me} project={project} />)}
        {me && me.kind !== 'local' && !target && <p className="text2">A share link opens one session, one run or one view of them. Open one of those first.</p>}
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

function PlainAddress({ me, project, target }: { me: Me | null; project: string | null; target: ShareTarget | null }) {
  const where = project === null || !target ? 'what it shows' : `project ${project}`;
  return (
    <section aria-label="Address">
      <h2>The address of this view</h2>
      <p className="text2">
        {me?.kind === 'local'
          ? 'Access control is off on this server: the address opens for everybody who reaches the server. It holds everything that is set on this page.'
          : `It opens for everybody who has a role in ${where}, and for nobody else. It holds everything that is set on this page.`}
      </p>
      <CopyLine text={window.location.href} what="Link to this view" />
    </section>
  );
}

function CopyLine({ text, what, primary = false }: { text: string; what: string; primary?: boolean }) {
  return (
    <div className="copy-line">
      <input className="input mono" readOnly value={text} aria-label={what} onFocus={(event) => event.target.select()} />
      <button type="button" className={primary ? 'button primary' : 'button'} onClick={() => void copyText(text, what)}>
        <Icon name="copy" />
        Copy
      </button>
    </div>
  );
}

function MayNotShare({ me, project }: { me: Me; project: string }) {
  return (
    <p className="text2" data-testid="may-not-share">
      {me.subject ? `Links for people without a role are made by editors of ${project}; ${shortName(me.subject)} is none. Ask an editor or administrator of the project.` : 'You came by a link. Who has a role in the project can share it.'}
    </p>
  );
}

function Links({ me, project, target }: { me: Me; project: string; target: ShareTarget }) {
  const admin = mayDo(me, 'admin', project);
  const exact = target.view !== target.plain;
  const keys = new URLSearchParams(target.view.split('?')[1] ?? '');
  const beside = keys.has('b') || keys.has('with');
  const [view, setView] = useState(exact);
  const [audience, setAudience] = useState<Audience>('SIGNED_IN');
  const [days, setDays] = useState(usualDays);
  const list = useResource(`share-links/${project}/${target.id}`, (signal) => accessApi.links({ project, filter: `target = ${quoted(target.id)}`, order_by: 'create_time desc' }, { signal }));
  const make = useChange<ShareLink>((link) => {
    list.reload();
    void copyText(linkAddress(link), 'Link');
  });
  const [made, setMade] = useState<ShareLink | null>(null);
  const revoke = useChange<unknown>(list.reload);
  const anyoneReason = target.kind === 'run' ? 'a run is opened to people who sign in only' : admin ? null : `only an administrator of ${project} may open it to anyone`;
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    make.send(async () => {
      const link = await accessApi.createLink({ ...(target.kind === 'run' ? { run: target.id } : { session: target.id }), view: view ? target.view : undefined, audience, days: Number(days) });
      setMade(link);
      return link;
    });
  };
  const now = Date.now();
  const alive = (list.value?.items ?? []).filter((link) => ended(link, now) === null);
  return (
    <>
      <section aria-label="New link">
        <h2>A link for people without a role</h2>
        <p className="text2">They may look at this {sharedNames[target.kind]} and at nothing beside it.</p>
        <form className="share-form" onSubmit={submit}>
          <Field label="Opens">
            <Select
              value={view ? 'view' : 'whole'}
              choices={[...(exact ? [{ value: 'view', label: 'This exact view' }] : []), { value: 'whole', label: target.kind === 'run' ? 'The run, with its sessions' : 'The session' }]}
              onChange={(value) => setView(value === 'view')}
            />
          </Field>
          <Field label="For">
            <span className="select-wrap">
              <select className="select" value={audience} onChange={(event) => setAudience(event.target.value as Audience)}>
                <option value="SIGNED_IN">Anyone signed in</option>
                <option value="ANYONE" disabled={anyoneReason !== null}>
                  Anyone with the link
                </option>
              </select>
              <Icon name="chevron" />
            </span>
          </Field>
          <Field label="Ends after">
            <Select value={days} choices={lifetimes} onChange={setDays} />
          </Field>
          <button type="submit" className="button primary" disabled={make.busy}>
            <Icon name="link" />
            Make a link
          </button>
        </form>
        <p className="hint muted">
          {audience === 'ANYONE' ? 'Whoever gets hold of this link sees it without a sign-in, until it ends or is taken back.' : anyoneReason ? `Without a sign-in: no, ${anyoneReason}.` : 'People sign in first; no role is needed.'}
        </p>
        {view && beside && <p className="hint warn">What this view is compared with is not opened by the link: it opens this {sharedNames[target.kind]} only.</p>}
        {make.error && <ErrorNotice what="No link was made." error={make.error} />}
        {made && (
          <div data-testid="made-link">
            <CopyLine text={linkAddress(made)} what="Share link" primary />
          </div>
        )}
      </section>
      <section aria-label="Links to it">
        <h2>Links to it</h2>
        {list.error && !list.error.lostConnection && <ErrorNotice what="The links could not be listed." error={list.error} onRetry={list.reload} />}
        {list.value && alive.length === 0 && <p className="muted">None is open.</p>}
        {alive.length > 0 && (
          <ul className="share-links">
            {alive.map((link) => (
              <li key={link.id}>
                <Icon name={link.audience === 'ANYONE' ? 'open' : 'user'} />
                <span className="grow truncate" title={link.view}>
                  {link.view === target.plain ? `The ${sharedNames[target.kind]}` : link.view.slice(target.plain.length)}
                  <span className="muted">
                    {' '}
                    {link.audience === 'ANYONE' ? 'anyone with the link' : 'anyone signed in'}, by {shortName(link.created_by)}, ends <When time={link.expire_time} />
                  </span>
                </span>
                <button type="button" className="button plain square small" aria-label="Copy this link" title="Copy this link" onClick={() => void copyText(linkAddress(link), 'Link')}>
                  <Icon name="copy" />
                </button>
                {(admin || link.created_by === me.subject) && (
                  <button type="button" className="button small danger" disabled={revoke.busy} onClick={() => revoke.send(() => accessApi.revokeLink(link.id))}>
                    Take back
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
        {revoke.error && <ErrorNotice what="The link was not taken back." error={revoke.error} />}
      </section>
    </>
  );
}
