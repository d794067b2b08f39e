// Making a token, for oneself or for a service account: what it is for, how far it reaches, how long it lives.
import { useState } from 'react';
import { accessApi } from '../access/client';
import { shortName } from '../access/rights';
import type { Token } from '../access/types';
import { Dialog } from '../ui/Dialog';
import { FormButtons, useChange } from '../ui/forms';
import { ErrorNotice, Field, Select } from '../ui/states';
import { When } from './AccessTable';
import { SecretDialog } from './SecretDialog';

export type NewTokenMade = Token & { readonly token: string };

const lifetimes = [7, 30, 90, 180, 365].map((days) => ({ value: String(days), label: days === 365 ? '1 year' : `${days} days` }));
const reaches = [
  { value: '', label: 'Everything the account may do' },
  { value: 'view', label: 'Only look' },
  { value: 'view,edit', label: 'Look, change and share' },
  { value: 'view,edit,capture', label: 'Look, change, share and capture' },
  { value: 'analysis.read', label: 'Only read analysis reports' },
];

interface CreateTokenDialogProps {
  subject?: string; // Absent: oneself.
  onMade: (made: NewTokenMade) => void;
  onClose: () => void;
}

export function CreateTokenDialog({ subject, onMade, onClose }: CreateTokenDialogProps) {
  const [name, setName] = useState('');
  const [rights, setRights] = useState('');
  const [project, setProject] = useState('');
  const [days, setDays] = useState('90');
  const { error, busy, send } = useChange<NewTokenMade>(onMade);
  return (
    <Dialog title={subject ? `A token of ${shortName(subject)}` : 'A token of your own'} onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(() => accessApi.createToken({ subject, name: name.trim(), rights: rights || undefined, project: project.trim() || undefined, days: Number(days) }));
        }}
      >
        <Field label="What it is for" hint="So that you know it again when it is to be taken back.">
          <input className="input" data-autofocus value={name} onChange={(event) => setName(event.target.value)} required maxLength={200} placeholder="nightly export" />
        </Field>
        <Field label="Reach" hint="It never opens more than the account itself may do.">
          <Select value={rights} choices={reaches} onChange={setRights} />
        </Field>
        <Field label="Only in this project" hint="Empty: in all projects of the account.">
          <input className="input" value={project} onChange={(event) => setProject(event.target.value)} spellCheck={false} maxLength={128} />
        </Field>
        <Field label="Lives">
          <Select value={days} choices={lifetimes} onChange={setDays} />
        </Field>
        {error && <ErrorNotice what="No token was made." error={error} />}
        <FormButtons busy={busy} verb="Make a token" disabled={!name.trim()} onClose={onClose} />
      </form>
    </Dialog>
  );
}

export function NewTokenDialog({ made, onClose }: { made: NewTokenMade; onClose: () => void }) {
  return (
    <SecretDialog title={`Token: ${made.name || made.id}`} what="Token" text={made.token} onClose={onClose}>
      Programs send it as <code>Authorization: Bearer …</code>; for the <code>strobe</code> command set <code>STROBE_TOKEN</code>. It acts as <code>{made.subject}</code> and ends <When time={made.expire_time} />.
    </SecretDialog>
  );
}
