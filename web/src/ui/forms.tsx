// What dialogs with a form share: one change under way, the reason when it was refused, the row of buttons.
//
//   const { error, busy, send } = useChange<User>((user) => ...);
//   <form onSubmit={(event) => { event.preventDefault(); send(() => accessApi.createUser(...)); }}>
import { useEffect, useRef, useState } from 'react';
import { type ApiError, toApiError } from '../api/client';

export interface Change<T> {
  readonly error: ApiError | null;
  readonly busy: boolean;
  readonly send: (change: () => Promise<T>) => void;
}

export function useChange<T>(onDone: (answer: T) => void): Change<T> {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
    };
  }, []);
  const send = (change: () => Promise<T>) => {
    if (busy) return;
    setBusy(true);
    setError(null);
    change().then(
      (answer) => {
        if (gone.current) return;
        setBusy(false);
        onDone(answer);
      },
      (fault) => {
        if (gone.current) return;
        setBusy(false);
        setError(toApiError(fault));
      },
    );
  };
  return { error, busy, send };
}

interface FormButtonsProps {
  busy: boolean;
  verb: string;
  danger?: boolean;
  disabled?: boolean;
  onClose: () => void;
}

export function FormButtons({ busy, verb, danger = false, disabled = false, onClose }: FormButtonsProps) {
  return (
    <footer>
      <button type="button" className="button" onClick={onClose}>
        Cancel
      </button>
      <button type="submit" className={danger ? 'button danger' : 'button primary'} disabled={busy || disabled}>
        {verb}
      </button>
    </footer>
  );
}
