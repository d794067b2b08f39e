// People with an account: make, keep out, let in again, give a new one-time code, end sign-ins, delete.
import { useDeferredValue, useState } from 'react';
import { accessApi } from '../access/client';
import { useMe } from '../access/me';
import { containsFilter } from '../access/rights';
import type { OneTimeCode, User } from '../access/types';
import { useUrlKey } from '../state/url';
import { ConfirmDialog } from '../ui/ConfirmDialog';
import { Dialog } from '../ui/Dialog';
import { FormButtons, useChange } from '../ui/forms';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { usePages } from '../ui/pages';
import { ErrorNotice, Field } from '../ui/states';
import { showToast } from '../ui/toasts';
import { AccessHead, AccessTable, When } from './AccessTable';
import { SecretDialog } from './SecretDialog';

type Layer = { kind: 'create' } | { kind: 'delete' | 'disable' | 'reset'; user: User } | { kind: 'code'; name: string; code: OneTimeCode; fresh: boolean };

export function UsersPart() {
  const me = useMe();
  const q = useDeferredValue(useUrlKey('q') ?? '');
  const filter = containsFilter(q, ['name', 'display_name', 'email']);
  const list = usePages<User>(`users/${filter}`, (page, signal) => accessApi.users({ filter, page_token: page }, { signal }), (user) => user.name, { everyMs: 5000 });
  const [layer, setLayer] = useState<Layer | null>(null);
  const done = (text: string) => {
    showToast({ tone: 'good', icon: 'check', text });
    list.reload();
  };
  const at = (change: Promise<unknown>, text: string) =>
    change.then(
      () => done(text),
      (error: Error) => showToast({ tone: 'bad', icon: 'damaged', text: error.message }),
    );
  return (
    <>
      <AccessHead title="Users" about="People who may sign in. An account alone opens nothing: roles do, of the person or of a group." count={list.known ? list.items.length : null} more={list.hasMore} find="Name or address">
        <button type="button" className="button primary" onClick={() => setLayer({ kind: 'create' })}>
          Add a user
        </button>
      </AccessHead>
      <AccessTable
        label="Users"
        list={list}
        keyOf={(user) => user.name}
        dimmed={(user) => user.disabled}
        empty={q ? `Nobody has ${q} in name or address.` : 'Nobody yet. Add a user, or let people come through the provider you sign in with.'}
        columns={[
          {
            label: 'User',
            cell: (user) => (
              <>
                <strong className="name">{user.name}</strong> {`user:${user.name}` === me?.subject && <span className="muted">you</span>}
              </>
            ),
          },
          { label: 'Name', cell: (user) => user.display_name, title: (user) => user.display_name },
          { label: 'Address', cell: (user) => user.email, title: (user) => user.email },
          { label: 'Signs in by', width: 150, cell: signInWay },
          { label: 'State', width: 110, cell: (user) => (user.disabled ? <span className="chip damaged"><Icon name="damaged" />Kept out</span> : <span className="chip complete"><Icon name="complete" />May enter</span>) },
          { label: 'Last here', width: 110, cell: (user) => <When time={user.last_sign_in_time} /> },
          {
            label: '',
            width: 110,
            number: true,
            cell: (user) => (
              <Menu label={`Change ${user.name}`} className="button small" align="right" button={<>Change<Icon name="chevron" /></>}>
                {(close) => {
                  const choose = (work: () => void) => () => {
                    close();
                    work();
                  };
                  return (
                    <>
                      <button type="button" className="menu-item" role="menuitem" onClick={choose(() => setLayer({ kind: 'reset', user }))}>
                        New one-time code
                      </button>
                      <button type="button" className="menu-item" role="menuitem" onClick={choose(() => void at(accessApi.signOutUser(user.name), `All sign-ins of ${user.name} have ended.`))}>
                        End all sign-ins
                      </button>
                      {user.disabled ? (
                        <button type="button" className="menu-item" role="menuitem" onClick={choose(() => void at(accessApi.enableUser(user.name), `${user.name} may enter again.`))}>
                          Let in again
                        </button>
                      ) : (
                        <button type="button" className="menu-item" role="menuitem" onClick={choose(() => setLayer({ kind: 'disable', user }))}>
                          Keep out
                        </button>
                      )}
                      <button type="button" className="menu-item crit" role="menuitem" onClick={choose(() => setLayer({ kind: 'delete', user }))}>
                        Delete
                      </button>
                    </>
                  );
                }}
              </Menu>
            ),
          },
        ]}
      />
      {layer?.kind === 'create' && (
        <CreateUserDialog
          onClose={() => setLayer(null)}
          onMade={(name, code) => {
            list.reload();
            setLayer({ kind: 'code', name, code, fresh: true });
          }}
        />
      )}
      {layer?.kind === 'code' && <CodeDialog {...layer} onClose={() => setLayer(null)} />}
      {layer?.kind === 'reset' && <ResetDialog user={layer.user} onClose={() => setLayer(null)} onMade={(code) => setLayer({ kind: 'code', name: layer.user.name, code, fresh: false })} />}
      {layer?.kind === 'disable' && (
        <ConfirmDialog
          title={`Keep ${layer.user.name} out?`}
          verb="Keep out"
          failed="The user is not kept out."
          goes="every sign-in, at once. Tokens are refused, and links that the user made do not open any more."
          stays="the account with its roles, groups and tokens. It can be let in again, and all of that counts again."
          change={() => accessApi.disableUser(layer.user.name)}
          onClose={() => setLayer(null)}
          onDone={() => done(`${layer.user.name} is kept out.`)}
        />
      )}
      {layer?.kind === 'delete' && (
        <ConfirmDialog
          title={`Delete ${layer.user.name}?`}
          verb="Delete"
          failed="The user was not deleted."
          goes="the account, its roles, its places in groups, its tokens and its sign-ins. Links that the user made do not open any more."
          stays="runs and profiles, whoever made them, and everything in the audit record. A later account of the same name begins without any right."
          change={() => accessApi.deleteUser(layer.user.name)}
          onClose={() => setLayer(null)}
          onDone={() => done(`${layer.user.name} was deleted.`)}
        />
      )}
    </>
  );
}

function signInWay(user: User) {
  const ways = [user.has_password && 'password', user.has_provider && 'provider'].filter(Boolean);
  return ways.length > 0 ? ways.join(', ') : <span className="muted">code not used yet</span>;
}

function CreateUserDialog({ onMade, onClose }: { onMade: (name: string, code: OneTimeCode) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  const [display, setDisplay] = useState('');
  const [email, setEmail] = useState('');
  const { error, busy, send } = useChange<OneTimeCode & { user: User }>((made) => onMade(made.user.name, made));
  return (
    <Dialog title="Add a user" onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(() => accessApi.createUser({ name: name.trim(), display_name: display.trim(), email: email.trim() }));
        }}
      >
        <Field label="Name to sign in with" hint="Letters, digits and . _ - + @; small letters count.">
          <input className="input" data-autofocus value={name} onChange={(event) => setName(event.target.value)} required maxLength={128} autoCapitalize="none" spellCheck={false} />
        </Field>
        <Field label="Name as shown">
          <input className="input" value={display} onChange={(event) => setDisplay(event.target.value)} maxLength={200} />
        </Field>
        <Field label="Address" hint="Only shown. Strobe sends no mail.">
          <input className="input" type="email" value={email} onChange={(event) => setEmail(event.target.value)} maxLength={200} />
        </Field>
        {error && <ErrorNotice what="The user was not added." error={error} />}
        <FormButtons busy={busy} verb="Add" disabled={!name.trim()} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function ResetDialog({ user, onMade, onClose }: { user: User; onMade: (code: OneTimeCode) => void; onClose: () => void }) {
  const { error, busy, send } = useChange<OneTimeCode>(onMade);
  return (
    <Dialog title={`A new one-time code for ${user.name}`} onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(() => accessApi.resetUser(user.name));
        }}
      >
        <p className="text2">Whoever has the code can set a new password of this account within 7 days. The present password goes on until then.</p>
        {error && <ErrorNotice what="No code was made." error={error} />}
        <FormButtons busy={busy} verb="Make a code" onClose={onClose} />
      </form>
    </Dialog>
  );
}

function CodeDialog({ name, code, fresh, onClose }: { name: string; code: OneTimeCode; fresh: boolean; onClose: () => void }) {
  return (
    <SecretDialog title={`One-time code for ${name}`} what="One-time code" text={code.one_time_code} onClose={onClose}>
      {fresh ? 'The account is there. ' : ''}Give the code to {name} by another way than this page. At the sign-in page, under “I have a one-time code”, it sets the password; it ends{' '}
      <When time={code.expire_time} />.{fresh ? ' Then give the user a role, or put them into a group that has one.' : ''}
    </SecretDialog>
  );
}
