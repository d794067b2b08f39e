// Drop a profile anywhere on the list of sessions: it is uploaded and opens. The button is the way without a mouse.
import { useEffect, useRef, useState } from 'react';
import { isAbort, toApiError } from '../api/client';
import { formatBytes } from '../format/format';
import { navigate, sessionPath } from '../state/router';
import { Icon } from '../ui/Icon';
import { showToast } from '../ui/toasts';
import { canUpload, uploadEndings, uploadFile } from './upload';

interface Sending {
  readonly name: string;
  readonly sent: number;
  readonly total: number;
}

function useUpload() {
  const [sending, setSending] = useState<Sending | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const send = (files: readonly File[]) => {
    if (abort.current) return;
    const [file] = files;
    if (files.length !== 1 || !file || !canUpload(file.name)) {
      const what = files.length > 1 ? 'One file at a time: put the files of a session into a zip or tar.' : `“${file?.name ?? ''}” is neither a profile (.xplane.pb, also .gz, .zst) nor a zip or tar of a session.`;
      showToast({ tone: 'bad', icon: 'damaged', text: what });
      return;
    }
    const control = new AbortController();
    abort.current = control;
    setSending({ name: file.name, sent: 0, total: file.size });
    uploadFile(file, { signal: control.signal, onProgress: (sent, total) => setSending({ name: file.name, sent, total }) })
      .then((session) => {
        if (session) navigate(sessionPath(session, 'overview'));
      })
      .catch((error: unknown) => {
        if (isAbort(error)) return;
        const { message, hint } = toApiError(error).body;
        showToast({ tone: 'bad', icon: 'damaged', text: `${file.name} was not uploaded. ${message}${hint ? ' ' + hint : ''}` });
      })
      .finally(() => {
        abort.current = null;
        setSending(null);
      });
  };
  return { sending, send, cancel: () => abort.current?.abort() };
}

export function DropZone() {
  const { sending, send, cancel } = useUpload();
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const sendLatest = useRef(send);
  useEffect(() => {
    sendLatest.current = send;
  });

  useEffect(() => {
    let depth = 0; // Every element under the pointer says enter and leave.
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth -= 1;
      if (depth <= 0) setOver(false);
    };
    const hold = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault(); // Else the browser opens the file itself.
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      sendLatest.current([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener('dragenter', enter);
    window.addEventListener('dragleave', leave);
    window.addEventListener('dragover', hold);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', enter);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('dragover', hold);
      window.removeEventListener('drop', drop);
    };
  }, []);

  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        data-testid="upload-file"
        accept={uploadEndings.map((ending) => ending.slice(ending.lastIndexOf('.'))).join(',')}
        onChange={(event) => {
          send([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
      {sending ? (
        <span className="sending" role="status">
          <progress max={sending.total} value={sending.sent} aria-label={`Uploading ${sending.name}`} />
          <span className="muted">{sending.sent < sending.total ? `${formatBytes(sending.sent)} of ${formatBytes(sending.total)}` : 'Opening…'}</span>
          <button type="button" className="button small" onClick={cancel}>
            Cancel
          </button>
        </span>
      ) : (
        <button type="button" className="button" onClick={() => input.current?.click()}>
          Upload
        </button>
      )}
      {over && (
        <div className="drop-here" aria-hidden="true">
          <div>
            <Icon name="files" />
            Drop a profile, or a zip or tar of a session, to open it
          </div>
        </div>
      )}
    </>
  );
}
