// A secret that is shown once: a token, a one-time code, a key file. It is kept nowhere, so the dialog closes only by the button
// that says so, and by Escape.
import type { ReactNode } from 'react';
import { Dialog } from '../ui/Dialog';
import { Icon } from '../ui/Icon';
import { saveFile } from '../ui/saveFile';
import { copyText } from '../ui/toasts';

interface SecretDialogProps {
  title: string;
  what: string; // "Token"
  text: string;
  file?: string; // Offered as a file of this name.
  children: ReactNode; // What it is for, and until when.
  onClose: () => void;
}

export function SecretDialog({ title, what, text, file, children, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-form">
        <div className="text2">{children}</div>
        {file ? (
          <pre className="secret secret-file" aria-label={what}>
            {file}
          </pre>
        ) : (
          <output className="secret mono" aria-label={what} data-testid="secret">
            {text}
          </output>
        )}
        <div className="notice lossy">
          <Icon name="partial" />
          <div className="grow prose">This is the only time it is shown. Strobe keeps no copy that could be read.</div>
        </div>
        <footer>
          <button type="button" className="button" onClick={() => void copyText(text, what)}>
            <Icon name="copy" />
            Copy
          </button>
          {file && (
            <button type="button" className="button primary" data-autofocus onClick={() => saveFile(file, text, 'application/json')}>
              <Icon name="download" />
              Download
            </button>
          )}
          <button type="button" className={file ? 'button' : 'button primary'} onClick={onClose}>
            I have it
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
