// Register, edit and delete a run.
import { useState } from 'react';
import { plural } from '../format/format';
import { navigate } from '../state/router';
import { Dialog } from '../ui/Dialog';
import { FormButtons, useChange } from '../ui/forms';
import { ErrorNotice, Field } from '../ui/states';
import { showToast } from '../ui/toasts';
import { runsApi, type RunKey } from './client';
import { labelsText, parseLabels, runAddress, runTitle } from './runs';
import type { Run, RunOperation } from './types';

const listExistingLabel = 'list_existing_sessions_only';
const defaultLocation = 'local';

export function CreateRunDialog({ project, onClose }: { project: string; onClose: () => void }) {
  const [name, setName] = useState('');
  const [group, setGroup] = useState('');
  const [path, setPath] = useState('');
  const [existing, setExisting] = useState(true);
  const { error, busy, send } = useChange<RunOperation>((operation) => {
    const response = (operation as { response?: { name?: string } }).response;
    onClose();
    const parts = response?.name?.split('/') ?? [];
    if (parts.length >= 6) navigate(runAddress({ project: parts[1]!, location: parts[3]!, id: parts[5]! }));
  });
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    const body = {
      displayName: name.trim(),
      runSet: group.trim() || undefined,
      artifacts: { gcsPath: path.trim() },
      labels: existing ? { [listExistingLabel]: 'true' } : undefined,
    };
    send(() => runsApi.create(project, defaultLocation, '', body));
  };
  return (
    <Dialog title="Register a run" onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        <Field label="Name">
          <input className="input" data-autofocus value={name} onChange={(event) => setName(event.target.value)} maxLength={200} required />
        </Field>
        <Field label="Group" hint="Runs of one experiment; may be empty.">
          <input className="input" value={group} onChange={(event) => setGroup(event.target.value)} maxLength={200} />
        </Field>
        <Field label="Storage path" hint="Where its profiles are: a directory below one of this server's roots.">
          <input className="input mono" value={path} onChange={(event) => setPath(event.target.value)} required spellCheck={false} />
        </Field>
        <label className="check">
          <input type="checkbox" checked={existing} onChange={(event) => setExisting(event.target.checked)} />
          <span>The job is over: only list the profiles that are there</span>
        </label>
        {error && <ErrorNotice what="The run was not registered." error={error} />}
        <FormButtons busy={busy} verb="Register" disabled={!name.trim() || !path.trim()} onClose={onClose} />
      </form>
    </Dialog>
  );
}

export function EditRunDialog({ run, runKey, onClose, onChanged }: { run: Run; runKey: RunKey; onClose: () => void; onChanged: () => void }) {
  const [name, setName] = useState(run.displayName ?? '');
  const [group, setGroup] = useState(run.runSet ?? '');
  const [labels, setLabels] = useState(labelsText(run.labels));
  const parsed = parseLabels(labels);
  const { error, busy, send } = useChange<RunOperation>(() => {
    onChanged();
    onClose();
  });
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (!parsed) return;
    const body = { displayName: name.trim(), runSet: group.trim(), labels: parsed, etag: run.etag };
    send(() => runsApi.update(runKey, 'display_name,run_set,labels', body));
  };
  return (
    <Dialog title="Edit the run" onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        <Field label="Name">
          <input className="input" data-autofocus value={name} onChange={(event) => setName(event.target.value)} maxLength={200} />
        </Field>
        <Field label="Group">
          <input className="input" value={group} onChange={(event) => setGroup(event.target.value)} maxLength={200} />
        </Field>
        <Field label="Labels" hint={parsed ? 'As team=vision, owner=ann.' : <span className="bad">Write them as team=vision, owner=ann.</span>}>
          <input className="input mono" value={labels} onChange={(event) => setLabels(event.target.value)} aria-invalid={!parsed} spellCheck={false} />
        </Field>
        {error && <ErrorNotice what="The run was not changed." error={error} />}
        <FormButtons busy={busy} verb="Save" disabled={!parsed} onClose={onClose} />
      </form>
    </Dialog>
  );
}

export interface RunCounts {
  readonly sessions: number;
  readonly targets: number;
  readonly events: number;
}

export function DeleteRunDialog({ run, runKey, counts, onClose }: { run: Run; runKey: RunKey; counts: RunCounts; onClose: () => void }) {
  const { error, busy, send } = useChange<RunOperation>(() => {
    onClose();
    showToast({ tone: 'good', icon: 'check', text: `Run ${runTitle(run)} was deleted.` });
    navigate('/runs');
  });
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    send(() => runsApi.remove(runKey, run.etag));
  };
  return (
    <Dialog title={`Delete ${runTitle(run)}?`} onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        <p>
          What goes: the run with its configuration, the records of {plural(counts.sessions, 'session')}, {plural(counts.targets, 'target')} and {plural(counts.events, 'event')}.
        </p>
        <p>
          What stays: every profile{run.artifacts?.gcsPath ? <> in <code>{run.artifacts.gcsPath}</code></> : null}. They remain among the sessions of this server.
        </p>
        {error && <ErrorNotice what="The run was not deleted." error={error} />}
        <FormButtons busy={busy} verb="Delete" danger onClose={onClose} />
      </form>
    </Dialog>
  );
}
