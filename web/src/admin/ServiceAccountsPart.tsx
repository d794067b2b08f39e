// Accounts of programs, and their keys: a key file is made here and downloaded once; it can be taken back.
import { useDeferredValue, useState } from 'react';
import { accessApi } from '../access/client';
import { containsFilter, shortName } from '../access/rights';
import type { ServiceAccount, ServiceKey } from '../access/types';
import { basePath } from '../state/router';
import { useUrlKey } from '../state/url';
import { ConfirmDialog } from '../ui/ConfirmDialog';
import { Dialog } from '../ui/Dialog';
import { FormButtons, useChange } from '../ui/forms';
import { usePages } from '../ui/pages';
import { ErrorNotice, Field, Select } from '../ui/states';
import { showToast } from '../ui/toasts';
import { useResource } from '../ui/useResource';
import { AccessHead, AccessTable, ended, When } from './AccessTable';
import { SecretDialog } from './SecretDialog';
import { CreateTokenDialog, NewTokenDialog, type NewTokenMade } from './TokenDialogs';

type Layer =
  | { kind: 'create' }
  | { kind: 'keys' | 'delete' | 'token'; name: string }
  | { kind: 'file'; name: string; file: Record<string, string> }
  | { kind: 'made'; made: NewTokenMade };

const lifetimes = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '0', label: 'No end' },
];

export function ServiceAccountsPart() {
  const q = useDeferredValue(useUrlKey('q') ?? '');
  const filter = containsFilter(q, ['name', 'display_name']);
  const list = usePages<ServiceAccount>(`accounts/${filter}`, (page, signal) => accessApi.accounts({ filter, page_token: page }, { signal }), (account) => account.name, { everyMs: 5000 });
  const [layer, setLayer] = useState<Layer | null>(null);
  const close = () => setLayer(null);
  return (
    <>
      <AccessHead title="Service accounts" about="Accounts of programs: training jobs, the SDK, gcloud. A key file lets Google’s clients in, a token all others. Like people they need a role." count={list.known ? list.items.length : null} more={list.hasMore} find="Name of an account">
        <button type="button" className="button primary" onClick={() => setLayer({ kind: 'create' })}>
          Add a service account
        </button>
      </AccessHead>
      <AccessTable
        label="Service accounts"
        list={list}
        keyOf={(account) => account.name}
        dimmed={(account) => account.disabled}
        empty={q ? `No service account has ${q} in its name.` : 'No service account yet. Add one for each kind of job, so that its key can be taken back without harm to the others.'}
        columns={[
          { label: 'Account', cell: (account) => <strong className="name">{account.name}</strong> },
          { label: 'Name', cell: (account) => account.display_name, title: (account) => account.display_name },
          { label: 'Made by', width: 170, cell: (account) => shortName(account.created_by) },
          { label: 'Made', width: 110, cell: (account) => <When time={account.create_time} /> },
          {
            label: '',
            width: 260,
            number: true,
            cell: (account) => (
              <span className="row-actions">
                <button type="button" className="button small" onClick={() => setLayer({ kind: 'keys', name: account.name })}>
                  Key files
                </button>
                <button type="button" className="button small" onClick={() => setLayer({ kind: 'token', name: account.name })}>
                  New token
                </button>
                <button type="button" className="button small danger" onClick={() => setLayer({ kind: 'delete', name: account.name })}>
                  Delete
                </button>
              </span>
            ),
          },
        ]}
      />
      {layer?.kind === 'create' && <CreateAccountDialog onClose={close} onMade={(name) => { list.reload(); setLayer({ kind: 'keys', name }); }} />}
      {layer?.kind === 'keys' && <KeysDialog account={layer.name} onClose={close} onMade={(file) => setLayer({ kind: 'file', name: layer.name, file })} />}
      {layer?.kind === 'file' && (
        <SecretDialog title={`Key file of ${layer.name}`} what="Key file" text={JSON.stringify(layer.file, null, 2)} file={`${layer.name}-key.json`} onClose={() => setLayer({ kind: 'keys', name: layer.name })}>
          Put it where only the job can read it, and name it in <code>GOOGLE_APPLICATION_CREDENTIALS</code>. Google’s clients then fetch their access tokens from this server.
        </SecretDialog>
      )}
      {layer?.kind === 'token' && <CreateTokenDialog subject={`service:${layer.name}`} onClose={close} onMade={(made) => setLayer({ kind: 'made', made })} />}
      {layer?.kind === 'made' && <NewTokenDialog made={layer.made} onClose={close} />}
      {layer?.kind === 'delete' && (
        <ConfirmDialog
          title={`Delete ${layer.name}?`}
          verb="Delete"
          failed="The service account was not deleted."
          goes="the account, its key files, its tokens, its roles and its places in groups. Jobs that use them are refused at once."
          stays="runs and profiles that those jobs wrote, and everything in the audit record."
          change={() => accessApi.deleteAccount(layer.name)}
          onClose={close}
          onDone={() => {
            showToast({ tone: 'good', icon: 'check', text: `The service account ${layer.name} was deleted.` });
            list.reload();
          }}
        />
      )}
    </>
  );
}

function CreateAccountDialog({ onMade, onClose }: { onMade: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  const [display, setDisplay] = useState('');
  const { error, busy, send } = useChange<unknown>(() => onMade(name.trim().toLowerCase()));
  return (
    <Dialog title="Add a service account" onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(() => accessApi.createAccount({ name: name.trim(), display_name: display.trim() }));
        }}
      >
        <Field label="Name" hint="Letters, digits and . _ - + @; small letters count.">
          <input className="input" data-autofocus value={name} onChange={(event) => setName(event.target.value)} required maxLength={128} spellCheck={false} />
        </Field>
        <Field label="Name as shown">
          <input className="input" value={display} onChange={(event) => setDisplay(event.target.value)} maxLength={200} />
        </Field>
        {error && <ErrorNotice what="The service account was not added." error={error} />}
        <FormButtons busy={busy} verb="Add" disabled={!name.trim()} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function KeysDialog({ account, onMade, onClose }: { account: string; onMade: (file: Record<string, string>) => void; onClose: () => void }) {
  const keys = useResource(`keys/${account}`, (signal) => accessApi.keys(account, { signal }));
  const [days, setDays] = useState('90');
  const [server, setServer] = useState(window.location.origin + basePath().replace(/\/$/, ''));
  const [project, setProject] = useState('default');
  const make = useChange<Record<string, string>>(onMade);
  const revoke = useChange<unknown>(keys.reload);
  const now = Date.now();
  return (
    <Dialog title={`Key files of ${account}`} onClose={onClose} width={680}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          make.send(() => accessApi.createKey(account, { days: Number(days), server: server.trim(), project: project.trim() || undefined }));
        }}
      >
        {keys.error && !keys.error.lostConnection && <ErrorNotice what="The keys could not be listed." error={keys.error} onRetry={keys.reload} />}
        {keys.value?.length === 0 && <p className="muted">This account has no key yet.</p>}
        {(keys.value?.length ?? 0) > 0 && (
          <table className="table plain-table" aria-label={`Keys of ${account}`}>
            <thead>
              <tr>
                <th>Key</th>
                <th>Made</th>
                <th>Ends</th>
                <th className="number">
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.value!.map((key: ServiceKey) => {
                const over = ended(key, now);
                return (
                  <tr key={key.id} className={over ? 'ended' : undefined}>
                    <td className="mono" title={key.id}>
                      {key.id.slice(0, 12)}
                    </td>
                    <td>
                      <When time={key.create_time} />
                    </td>
                    <td>{over === 'revoked' ? 'taken back' : <When time={key.expire_time} never="no end" />}</td>
                    <td className="number">
                      {!over && (
                        <button type="button" className="button small danger" disabled={revoke.busy} onClick={() => revoke.send(() => accessApi.revokeKey(account, key.id))} title="Jobs that use this key file are refused at once">
                          Take back
                        </button>
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
        {revoke.error && <ErrorNotice what="The key was not taken back." error={revoke.error} />}
        <fieldset className="fields">
          <legend className="label">A new key file</legend>
          <Field label="Address of this server, as the job reaches it">
            <input className="input mono" value={server} onChange={(event) => setServer(event.target.value)} required spellCheck={false} />
          </Field>
          <Field label="Lives">
            <Select value={days} choices={lifetimes} onChange={setDays} />
          </Field>
          <Field label="Project in the file">
            <input className="input" value={project} onChange={(event) => setProject(event.target.value)} spellCheck={false} />
          </Field>
        </fieldset>
        {make.error && <ErrorNotice what="No key was made." error={make.error} />}
        <FormButtons busy={make.busy} verb="Make a key file" disabled={!server.trim()} onClose={onClose} />
      </form>
    </Dialog>
  );
}
