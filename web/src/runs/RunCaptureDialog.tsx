// Profile the workers of a run now: all of them or some, for how long. The session stands in the list at once and follows by itself.
import { useState } from 'react';
import { plural } from '../format/format';
import { Dialog } from '../ui/Dialog';
import { FormButtons, useChange } from '../ui/forms';
import { ErrorNotice, Field } from '../ui/states';
import { showToast } from '../ui/toasts';
import { runsApi, type RunKey } from './client';
import { lastPart, runTitle } from './runs';
import type { Run, RunOperation, RunTarget } from './types';

const usualSeconds = '5';
const mostSeconds = 600;

interface RunCaptureDialogProps {
  run: Run;
  runKey: RunKey;
  targets: readonly RunTarget[];
  onStarted: () => void;
  onClose: () => void;
}

export function RunCaptureDialog({ run, runKey, targets, onStarted, onClose }: RunCaptureDialogProps) {
  const [seconds, setSeconds] = useState(usualSeconds);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = targets.filter((target) => !left.has(target.name));
  const length = Number(seconds);
  const valid = Number.isFinite(length) && length > 0 && length <= mostSeconds;
  const { error, busy, send } = useChange<RunOperation>(() => {
    onClose();
    onStarted();
    showToast({ tone: 'good', icon: 'capture', text: `Capturing ${plural(chosen.length, 'worker')} of ${runTitle(run)} for ${seconds} s.` });
  });
  const toggle = (name: string) =>
    setLeft((old) => {
      const next = new Set(old);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  return (
    <Dialog title={`Capture ${runTitle(run)}`} onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!valid || chosen.length === 0) return;
          send(() => runsApi.capture(runKey, length, chosen.length === targets.length ? [] : chosen.map((target) => target.name)));
        }}
      >
        <Field label="Length, s" hint={valid ? 'The job goes on meanwhile, a little slower.' : <span className="crit">More than 0 and at most {mostSeconds} s.</span>}>
          <input className="input" data-autofocus inputMode="decimal" value={seconds} aria-invalid={!valid} onChange={(event) => setSeconds(event.target.value)} />
        </Field>
        <fieldset className="capture-targets">
          <legend className="label">
            Workers: {chosen.length} of {targets.length}
          </legend>
          {targets.map((target) => (
            <label key={target.name} className="check">
              <input type="checkbox" checked={!left.has(target.name)} onChange={() => toggle(target.name)} />
              <span className="truncate">
                {lastPart(target.name)} <span className="muted mono">{target.hostname}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {error && <ErrorNotice what="The capture did not begin." error={error} />}
        <FormButtons busy={busy} verb={`Capture ${plural(chosen.length, 'worker')}`} disabled={!valid || chosen.length === 0} onClose={onClose} />
      </form>
    </Dialog>
  );
}
