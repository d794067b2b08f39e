// Captures run on the server; this store follows them from any page. It outlives the dialog and finds running captures
// again after a reload.
import { useSyncExternalStore } from 'react';
import { api, isAbort, onConnection, toApiError } from '../api/client';
import type { CaptureRequest, Operation } from '../api/types';
import { sessionPath } from '../state/router';
import { plural } from '../format/format';
import { showToast } from '../ui/toasts';

let operations: readonly Operation[] = [];
const listeners = new Set<() => void>();
const streams = new Map<string, EventSource>();

function publish(operation: Operation): void {
  const known = operations.some((old) => old.id === operation.id);
  operations = known ? operations.map((old) => (old.id === operation.id ? operation : old)) : [operation, ...operations];
  listeners.forEach((listener) => listener());
}

function announce(operation: Operation): void {
  const failed = operation.targets.filter((target) => target.state === 'failed' || target.state === 'empty').length;
  if (operation.result) {
    const lost = failed > 0 ? ` ${plural(failed, 'target')} did not deliver.` : '';
    showToast({
      tone: failed > 0 ? 'bad' : 'good',
      icon: failed > 0 ? 'partial' : 'complete',
      text: `Captured ${plural(operation.result.hosts_saved, 'host')}.${lost}`,
      link: operation.result.session
        ? { to: sessionPath(operation.result.session, 'overview'), text: `Open ${operation.result.session_name}` }
        : { to: '/', text: `Saved as ${operation.result.session_name}, outside the listed directories` },
    });
  } else if (operation.cancelled) {
    showToast({ tone: 'plain', icon: 'close', text: 'Capture cancelled. Nothing was saved.' });
  } else {
    showToast({ tone: 'bad', icon: 'damaged', text: `Capture failed: ${operation.error?.message ?? 'no target delivered a profile.'}` });
  }
}

function stop(id: string): void {
  streams.get(id)?.close();
  streams.delete(id);
}

function take(operation: Operation): void {
  const before = operations.find((old) => old.id === operation.id);
  if (before?.done) return;
  publish(operation);
  if (operation.done) {
    stop(operation.id);
    // The open dialog tells it itself.
    if (!dialog.open || dialog.operationId !== operation.id) announce(operation);
  }
}

// EventSource reconnects by itself after a lost connection, but gives up on an answer that is no stream (the operation was
// forgotten, say after a restart of the server): then one plain question settles it.
async function settle(id: string): Promise<void> {
  stop(id);
  try {
    const operation = await api.operation(id);
    take(operation);
    if (!operation.done) follow(id);
  } catch (error) {
    if (isAbort(error)) return;
    const fault = toApiError(error);
    if (fault.lostConnection) {
      const off = onConnection((lost) => {
        if (lost) return;
        off();
        void settle(id);
      });
      return;
    }
    const known = operations.find((old) => old.id === id);
    if (known && !known.done) take({ ...known, done: true, error: fault.body });
  }
}

export function follow(id: string): void {
  if (streams.has(id) || typeof EventSource === 'undefined') return;
  const stream = new EventSource(api.operationEventsUrl(id));
  streams.set(id, stream);
  stream.onmessage = (message) => {
    try {
      take(JSON.parse(message.data as string) as Operation);
    } catch {
      void settle(id);
    }
  };
  stream.onerror = () => {
    if (stream.readyState === EventSource.CLOSED) void settle(id);
  };
}

export async function startCapture(request: CaptureRequest): Promise<Operation> {
  const operation = await api.startCapture(request);
  take(operation);
  if (!operation.done) follow(operation.id);
  return operation;
}

export async function cancelCapture(id: string): Promise<void> {
  try {
    take(await api.cancelOperation(id));
  } catch (error) {
    showToast({ tone: 'bad', icon: 'damaged', text: `Could not cancel: ${toApiError(error).body.message}` });
  }
}

// At start and whenever the tab is looked at again: captures that were started elsewhere or before the page was loaded.
export async function resumeCaptures(): Promise<void> {
  try {
    const { operations: found } = await api.operations();
    for (const operation of found) {
      if (operation.kind !== 'capture' || operation.done || streams.has(operation.id)) continue;
      publish(operation);
      follow(operation.id);
    }
  } catch {
    // The banner for a lost connection tells it; a server without captures has nothing to resume.
  }
}

export function useCaptures(): readonly Operation[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => operations,
  );
}

// ---- the dialog is opened from many places -------------------------------------------------------------------------

export interface CaptureDialogState {
  readonly open: boolean;
  readonly operationId: string | null; // Which running capture it shows; null is the form.
}

let dialog: CaptureDialogState = { open: false, operationId: null };
const dialogListeners = new Set<() => void>();

export function setCaptureDialog(next: CaptureDialogState): void {
  dialog = next;
  dialogListeners.forEach((listener) => listener());
}

export function openCapture(operationId: string | null = null): void {
  setCaptureDialog({ open: true, operationId });
}

export function useCaptureDialog(): CaptureDialogState {
  return useSyncExternalStore(
    (listener) => {
      dialogListeners.add(listener);
      return () => dialogListeners.delete(listener);
    },
    () => dialog,
  );
}
