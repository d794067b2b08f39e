// Asks before something ends, and says what goes and what stays.
import type { ReactNode } from 'react';
import { Dialog } from './Dialog';
import { FormButtons, useChange } from './forms';
import { ErrorNotice } from './states';

interface ConfirmDialogProps {
  title: string;
  verb: string;
  failed: string; // "The user was not deleted."
  goes?: ReactNode;
  stays?: ReactNode;
  children?: ReactNode;
  change: () => Promise<unknown>;
  onDone: () => void;
  onClose: () => void;
}

export function ConfirmDialog({ title, verb, failed, goes, stays, children, change, onDone, onClose }: ConfirmDialogProps) {
  const { error, busy, send } = useChange<unknown>(() => {
    onClose();
    onDone();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(change);
        }}
      >
        {goes && (
          <p>
            <strong>What goes:</strong> {goes}
          </p>
        )}
        {stays && (
          <p>
            <strong>What stays:</strong> {stays}
          </p>
        )}
        {children}
        {error && <ErrorNotice what={failed} error={error} />}
        <FormButtons busy={busy} verb={verb} danger onClose={onClose} />
      </form>
    </Dialog>
  );
}
