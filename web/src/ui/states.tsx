// The states every page can be in: loading, failed, empty, lossy, stale.
import type { ReactNode } from 'react';
import type { ApiError } from '../api/client';
import type { LoadStage, SessionState } from '../api/types';
import { formatBytes, plural } from '../format/format';
import { Icon } from './Icon';
import type { RowCursor } from './useRowCursor';

export function Skeleton({ width, height }: { width: number | string; height?: number }) {
  return <span className="skeleton" style={{ width, height }} aria-hidden="true" />;
}

// Rows of a table that will come: same height as the real ones, so nothing moves.
export function SkeletonRows({ rows, columns }: { rows: number; columns: readonly (number | string)[] }) {
  return Array.from({ length: rows }, (_, r) => (
    <tr key={r} aria-hidden="true">
      {columns.map((width, c) => (
        <td key={c}>
          <Skeleton width={typeof width === 'number' ? width - ((r * 13 + c * 7) % Math.max(1, Math.floor(width / 3))) : width} />
        </td>
      ))}
    </tr>
  ));
}

export function ErrorNotice({ what, error, onRetry }: { what: string; error: ApiError; onRetry?: () => void }) {
  const { message, hint, request_id: requestId, name } = error.body;
  return (
    <div className="notice error" role="alert">
      <Icon name="damaged" />
      <div className="grow prose">
        <div>
          <strong>{what}</strong> {message}
        </div>
        {hint && <div className="text2">{hint}</div>}
        <div className="muted">
          <code>{name}</code>
          {requestId && (
            <>
              {' '}
              request <code>{requestId}</code>
            </>
          )}
        </div>
      </div>
      {onRetry && (
        <button type="button" className="button small" onClick={onRetry}>
          <Icon name="reload" />
          Retry
        </button>
      )}
    </div>
  );
}

// The files of what is shown have changed: the new data is offered, never swapped in under the reader.
export function StaleBanner({ onReload }: { onReload: () => void }) {
  return (
    <div className="banner fresh" role="status">
      <Icon name="reload" />
      New data: the files of this session have changed.
      <button type="button" className="button small" onClick={onReload}>
        Reload
      </button>
    </div>
  );
}

const stageWords: Readonly<Record<LoadStage, string>> = { unpacking: 'Unpacking', indexing: 'Looking through', decoding: 'Reading', ready: 'Reading', failed: 'Reading' };

// A long reading: which stage, how much of how much, how long still (null: not known yet).
export function LoadBanner({ stage, doneBytes, totalBytes, secondsLeft }: { stage: LoadStage; doneBytes: number; totalBytes: number; secondsLeft: number | null }) {
  const share = totalBytes > 0 ? Math.min(1, doneBytes / totalBytes) : 0;
  return (
    <div className="banner fresh" role="status">
      <Icon name="writing" />
      <span className="nowrap">
        {stageWords[stage]} {formatBytes(doneBytes)} of {formatBytes(totalBytes)}
        {secondsLeft !== null && `, ${secondsLeft} s left`}
      </span>
      <div className="progress" style={{ flex: 1 }} role="progressbar" aria-label="Reading the session" aria-valuenow={Math.round(share * 100)} aria-valuemin={0} aria-valuemax={100}>
        <div style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}

// A list that End or PageDown loads on: how far it has come, and a way to leave it at that.
export function LoadingOn({ cursor, loaded, what }: { cursor: Pick<RowCursor, 'goal' | 'stop'>; loaded: number; what: string }) {
  if (cursor.goal === null) return null;
  return (
    <span className="loading-on" role="status">
      {cursor.goal === Infinity ? `Loading on to the last ${what}` : 'Loading on'}: {plural(loaded, what)} so far
      <button type="button" className="button plain small" onClick={cursor.stop}>
        Stop
      </button>
    </span>
  );
}

export const stateWords: Readonly<Record<SessionState, string>> = {
  complete: 'Complete',
  partial: 'Partial',
  damaged: 'Damaged',
  empty: 'Empty',
  writing: 'Being written',
  unread: 'Not read yet',
};

export function StateChip({ state, reason }: { state: SessionState; reason?: string | null }) {
  return (
    <span className={`chip ${state}`} title={reason ?? stateMeaning[state]}>
      <Icon name={state} />
      {stateWords[state]}
    </span>
  );
}

export const stateMeaning: Readonly<Record<SessionState, string>> = {
  complete: 'Everything the files hold could be read.',
  partial: 'Some of it could be read; what is missing is listed under Files.',
  damaged: 'Nothing of it could be read.',
  empty: 'The session has no profile file.',
  writing: 'A file is still being written. It opens when it is whole.',
  unread: 'Not opened yet, so not judged.',
};

interface SelectProps {
  value: string;
  choices: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
  label?: string; // When no Field is around it.
}

export function Select({ value, choices, onChange, label }: SelectProps) {
  return (
    <span className="select-wrap">
      <select className="select" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Icon name="chevron" />
    </span>
  );
}

export function Field({ label, hint, children }: { label: string; hint?: ReactNode; children: ReactNode }) {
  return (
    <label className="field">
      <span className="label">{label}</span>
      {children}
      {hint && <span className="hint">{hint}</span>}
    </label>
  );
}
