// Profile a running job now: which processes, how long, how deep, where to. After the start the same dialog shows what
// each target does; closing it does not stop the capture.
import { type FormEvent, useEffect, useId, useState } from 'react';
import { ApiError, toApiError } from '../api/client';
import type { CaptureTarget, Operation, ServerConfig, TargetState } from '../api/types';
import { exactBytes, formatBytes, plural } from '../format/format';
import { keyLabel } from '../keys/table';
import { navigate, sessionPath } from '../state/router';
import { Dialog } from '../ui/Dialog';
import { Icon, type IconName } from '../ui/Icon';
import { ErrorNotice, Field, Select } from '../ui/states';
import { type CaptureForm, checkForm, emptyForm, type FormErrors, hostLevels, splitTargets } from './form';
import { cancelCapture, openCapture, setCaptureDialog, startCapture, useCaptures } from './store';
import './capture.css';

const storageKey = 'strobe.capture';

function storedForm(config: ServerConfig | null): CaptureForm {
  const form = emptyForm(config?.capture_default_target ?? null);
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? 'null') as Partial<CaptureForm> | null;
    if (!stored) return form;
    // Where the profile goes is asked anew each time: a stale name would be a wrong one.
    return { ...form, ...stored, session: '', root: writableRoots(config).includes(stored.root ?? '') ? (stored.root ?? '') : '' };
  } catch {
    return form;
  }
}

function writableRoots(config: ServerConfig | null): readonly string[] {
  return config?.capture_roots ?? config?.roots ?? [];
}

export function CaptureDialog({ config, operationId }: { config: ServerConfig | null; operationId: string | null }) {
  const operations = useCaptures();
  const operation = operationId ? operations.find((one) => one.id === operationId) : undefined;
  const close = () => setCaptureDialog({ open: false, operationId: null });
  if (operation) return <ProgressDialog operation={operation} onClose={close} />;
  return <FormDialog config={config} onClose={close} />;
}

function FormDialog({ config, onClose }: { config: ServerConfig | null; onClose: () => void }) {
  const [form, setForm] = useState(() => storedForm(config));
  const [errors, setErrors] = useState<FormErrors>({});
  const [failure, setFailure] = useState<ApiError | null>(null);
  const [sending, setSending] = useState(false);
  const set = (changes: Partial<CaptureForm>) => setForm((old) => ({ ...old, ...changes }));
  const count = splitTargets(form.targets).length;
  const disabled = config?.capture_enabled === false;
  const roots = writableRoots(config);

  // The configuration may arrive after the dialog was opened by key.
  useEffect(() => {
    if (config?.capture_default_target) setForm((old) => (old.targets ? old : { ...old, targets: config.capture_default_target! }));
  }, [config]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { request, errors: found } = checkForm(form);
    setErrors(found);
    if (!request || sending || disabled) return;
    setSending(true);
    setFailure(null);
    try {
      localStorage.setItem(storageKey, JSON.stringify(form));
    } catch {
      // Without storage the form starts fresh next time.
    }
    try {
      const operation = await startCapture(request);
      openCapture(operation.id);
    } catch (error) {
      setFailure(toApiError(error));
      setSending(false);
    }
  };

  return (
    <Dialog title="Capture a profile" onClose={onClose}>
      <form onSubmit={submit} noValidate className="capture-form">
        <div className="body">
          {disabled && (
            <div className="notice lossy">
              <Icon name="partial" />
              <div className="grow">{config?.capture_reason ?? 'Capture is switched off on this server.'}</div>
            </div>
          )}
          <Field label="Targets" hint={errors.targets ? <span className="crit">{errors.targets}</span> : 'Profiler servers as HOST:PORT, one or more. In the job: jax.profiler.start_server(9012)'}>
            <textarea className="input mono" rows={Math.min(6, Math.max(1, form.targets.split('\n').length))} value={form.targets} spellCheck={false} data-autofocus aria-invalid={errors.targets !== undefined} placeholder="127.0.0.1:9012" onChange={(event) => set({ targets: event.target.value })} onKeyDown={(event) => event.key === 'Enter' && !event.shiftKey && (event.preventDefault(), event.currentTarget.form?.requestSubmit())} />
          </Field>
          <div className="capture-grid">
            <Field label="Length, s" hint={errors.seconds && <span className="crit">{errors.seconds}</span>}>
              <input className="input" inputMode="decimal" value={form.seconds} aria-invalid={errors.seconds !== undefined} onChange={(event) => set({ seconds: event.target.value })} />
            </Field>
            <Field label="Host events">
              <Select value={String(form.hostLevel)} onChange={(value) => set({ hostLevel: Number(value) })} choices={hostLevels.map((level) => ({ value: String(level.value), label: level.label }))} />
            </Field>
            <OnOff label="Device events" value={form.device} onChange={(device) => set({ device })} />
            <OnOff label="Python calls" value={form.python} onChange={(python) => set({ python })} />
          </div>
          {form.python && <p className="muted">Python calls slow the job down noticeably while it is recorded.</p>}
          <div className="capture-where">
            {roots.length > 1 && (
              <Field label="Into">
                <Select value={form.root} onChange={(root) => set({ root })} choices={roots.map((root, i) => ({ value: i === 0 ? '' : root, label: root }))} />
              </Field>
            )}
            <Field label="Run" hint={errors.run ? <span className="crit">{errors.run}</span> : roots.length === 1 ? `Below ${roots[0]}; empty: the directory itself.` : 'Empty: the directory itself.'}>
              <input className="input" value={form.run} spellCheck={false} aria-invalid={errors.run !== undefined} placeholder="llama/run1" onChange={(event) => set({ run: event.target.value })} />
            </Field>
            <Field label="Session name" hint={errors.session ? <span className="crit">{errors.session}</span> : 'Empty: the time of the capture.'}>
              <input className="input" value={form.session} spellCheck={false} aria-invalid={errors.session !== undefined} onChange={(event) => set({ session: event.target.value })} />
            </Field>
          </div>
          {failure && <ErrorNotice what="The capture did not start." error={failure} />}
        </div>
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={sending || disabled}>
            {sending ? 'Starting' : count > 1 ? `Capture ${count} targets` : 'Capture'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function OnOff({ label, value, onChange }: { label: string; value: boolean; onChange: (value: boolean) => void }) {
  const name = useId();
  return (
    <fieldset className="field segmented">
      <legend className="label">{label}</legend>
      {[true, false].map((one) => (
        <label key={String(one)}>
          <input type="radio" name={name} checked={value === one} onChange={() => onChange(one)} />
          <span>{one ? 'On' : 'Off'}</span>
        </label>
      ))}
    </fieldset>
  );
}

const targetWords: Readonly<Record<TargetState, string>> = {
  connecting: 'connecting',
  recording: 'recording',
  collecting: 'collecting',
  saved: 'saved',
  failed: 'failed',
  cancelled: 'cancelled',
  empty: 'empty',
};

const targetIcons: Readonly<Record<TargetState, IconName>> = {
  connecting: 'unread',
  recording: 'capture',
  collecting: 'down',
  saved: 'complete',
  failed: 'damaged',
  cancelled: 'close',
  empty: 'empty',
};

function ProgressDialog({ operation, onClose }: { operation: Operation; onClose: () => void }) {
  const [cancelling, setCancelling] = useState(false);
  const { progress, result } = operation;
  const share = operation.done ? 1 : progress && progress.total > 0 ? Math.min(1, progress.done / progress.total) : 0;
  const title = operation.done ? (result ? 'Captured' : operation.cancelled ? 'Capture cancelled' : 'Capture failed') : 'Capturing';
  return (
    <Dialog title={title} onClose={onClose} width={640}>
      <div className="body capture-progress">
        <div className="capture-headline">
          <span className="text2" role="status">
            {headline(operation)}
          </span>
        </div>
        <div className="progress" role="progressbar" aria-valuenow={Math.round(share * 100)} aria-valuemin={0} aria-valuemax={100} aria-label="Capture">
          <div style={{ width: `${share * 100}%` }} />
        </div>
        <ul className="capture-targets">
          {operation.targets.map((target) => (
            <TargetRow key={target.target} target={target} />
          ))}
        </ul>
        {operation.error && <ErrorNotice what="Nothing was saved." error={new ApiError(200, operation.error)} />}
      </div>
      <footer>
        {!operation.done && <span className="muted grow-left">Closing this keeps the capture running.</span>}
        {operation.done ? (
          <button type="button" className="button" onClick={() => openCapture(null)}>
            {result ? 'Capture again' : 'Change and retry'}
          </button>
        ) : (
          <button
            type="button"
            className="button"
            disabled={cancelling}
            onClick={() => {
              setCancelling(true);
              void cancelCapture(operation.id).finally(() => setCancelling(false));
            }}
          >
            {cancelling ? 'Cancelling' : 'Cancel capture'}
          </button>
        )}
        {result?.session ? (
          <button
            type="button"
            className="button primary"
            data-autofocus
            onClick={() => {
              onClose();
              navigate(sessionPath(result.session!, 'overview'));
            }}
          >
            Open session
          </button>
        ) : (
          <button type="button" className="button" onClick={onClose} title={`Close (${keyLabel('app.close')})`}>
            Close
          </button>
        )}
      </footer>
    </Dialog>
  );
}

function headline(operation: Operation): string {
  const { progress, result, targets } = operation;
  if (operation.done) {
    if (result) return `${plural(result.hosts_saved, 'host')} of ${targets.length} saved as ${result.session_name}.`;
    return operation.cancelled ? 'Nothing was saved.' : 'No target delivered a profile.';
  }
  if (!progress) return 'Starting.';
  if (progress.unit === 'ms') {
    return `${progress.stage}: ${(progress.done / 1000).toFixed(1)} of ${(progress.total / 1000).toFixed(1)} s`;
  }
  return `${progress.stage}: ${progress.done} of ${progress.total} ${progress.unit}`;
}

function TargetRow({ target }: { target: CaptureTarget }) {
  return (
    <li className={`capture-target ${target.state}`}>
      <Icon name={targetIcons[target.state]} />
      <span className="mono truncate" title={target.target}>
        {target.target}
      </span>
      <span className="state">{targetWords[target.state]}</span>
      <span className="bytes" title={exactBytes(target.received_bytes)}>
        {target.received_bytes > 0 ? formatBytes(target.received_bytes) : ''}
      </span>
      {(target.message || target.hint) && (
        <span className="why">
          {target.message} <span className="muted">{target.hint}</span>
        </span>
      )}
    </li>
  );
}
