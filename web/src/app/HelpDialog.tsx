import { type KeyEntry, type KeyScope, keyTable, showKey } from '../keys/table';
import { Dialog } from '../ui/Dialog';

const scopes: readonly (readonly [KeyScope, string])[] = [
  ['global', 'Anywhere'],
  ['list', 'Lists and tables'],
  ['graph', 'Graph'],
  ['timeline', 'Timeline'],
];

export function HelpDialog({ onClose, version }: { onClose: () => void; version: string | null }) {
  const entries: readonly KeyEntry[] = keyTable;
  return (
    <Dialog title="Keys" onClose={onClose} width={680}>
      <div className="body" tabIndex={0} role="region" aria-label="All keys">
        <div className="help-columns">
          {scopes.map(([scope, title]) => (
            <section key={scope}>
              <h2>{title}</h2>
              {entries
                .filter((entry) => entry.scope === scope)
                .map((entry) => (
                  <div key={entry.id} className="row">
                    <span className="text2">{entry.label}</span>
                    <span className="keys">
                      {entry.keys.map((stroke) => (
                        <kbd key={stroke} className="kbd">
                          {showKey(stroke)}
                        </kbd>
                      ))}
                    </span>
                  </div>
                ))}
              {scope === 'timeline' && <p className="muted">Wheel scrolls, Ctrl and wheel zooms at the pointer, drag moves, Shift and drag selects a range.</p>}
            </section>
          ))}
        </div>
        {version && <p className="muted">Strobe {version}. The API is at /api/v1.</p>}
      </div>
    </Dialog>
  );
}
