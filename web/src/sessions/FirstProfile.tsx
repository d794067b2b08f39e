// The empty list: what was looked for, and two ways that work to get a first profile.
import { useMay } from '../access/me';
import type { ServerConfig } from '../api/types';
import { openCapture } from '../capture/store';
import { keyLabel } from '../keys/table';
import { Icon } from '../ui/Icon';
import { copyText } from '../ui/toasts';

function Snippet({ text }: { text: string }) {
  return (
    <div className="snippet">
      <pre>{text}</pre>
      <button type="button" className="button plain square small" aria-label="Copy the code" title="Copy the code" onClick={() => void copyText(text, 'Code')}>
        <Icon name="copy" />
      </button>
    </div>
  );
}

export function FirstProfile({ config }: { config: ServerConfig | null }) {
  const root = config?.roots[0] ?? '<log directory>';
  const mayCapture = useMay('capture');
  const mayUpload = useMay('edit');
  const port = config?.capture_default_target?.split(':').pop() ?? '9012';
  return (
    <div className="first">
      <h2>No profile here yet</h2>
      <p className="text2">
        Looked for <code>**/plugins/profile/&lt;session&gt;/&lt;host&gt;.xplane.pb</code> under
        {(config?.roots ?? [root]).map((one, i) => (
          <span key={one}>
            {i > 0 ? ',' : ''} <code>{one}</code>
          </span>
        ))}{' '}
        and found none. The list fills by itself as soon as there is one.
      </p>
      <div className="ways">
        <section className="panel">
          <header>
            <h2>Capture from a running job</h2>
          </header>
          <div className="way">
            <p className="text2">Give the job a profiler server, once:</p>
            <Snippet text={`import jax\njax.profiler.start_server(${port})`} />
            <p className="text2">Then take a profile of it at any time.</p>
            {mayCapture && <p className="press">
              <button type="button" className="button primary" disabled={config?.capture_enabled === false} onClick={() => openCapture()}>
                <Icon name="capture" />
                Capture a profile
              </button>
              <span className="kbd">{keyLabel('app.capture')}</span>
            </p>}
          </div>
        </section>
        <section className="panel">
          <header>
            <h2>Write one from the code</h2>
          </header>
          <div className="way">
            <p className="text2">Wrap a few steps, after the first one has compiled:</p>
            <Snippet text={`import jax\nwith jax.profiler.trace("${root}"):\n    for _ in range(5):\n        state = train_step(state)`} />
            <p className="text2">
              Or copy an existing profile into <code>{root}/plugins/profile/&lt;any name&gt;/</code>
              {config?.uploads_enabled && mayUpload ? ', or drop it onto this page' : ''}.
            </p>
          </div>
        </section>
      </div>
    </div>
  );
}
