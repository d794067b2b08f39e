// What a tool has to say beside its numbers: losses, missing steps, a tool that does not apply, each with what to do about it.
import { useMay } from '../access/me';
import { openCapture } from '../capture/store';
import type { IconName } from '../ui/Icon';
import { Icon } from '../ui/Icon';
import type { Notice, ToolAnswer, ToolInfo } from './types';

const icons: Readonly<Record<Notice['severity'], IconName>> = { info: 'help', warning: 'partial', error: 'damaged' };
const classes: Readonly<Record<Notice['severity'], string>> = { info: 'notice', warning: 'notice lossy', error: 'notice error' };

export function NoticeLine({ severity, children, hint, action }: { severity: Notice['severity']; children: React.ReactNode; hint?: string; action?: React.ReactNode }) {
  return (
    <div className={classes[severity]} role={severity === 'error' ? 'alert' : 'status'}>
      <Icon name={icons[severity]} />
      <div className="grow prose">
        {children}
        {hint && <div className="text2">{hint}</div>}
      </div>
      {action}
    </div>
  );
}

// XProf's texts carry links to its own documentation: only the words are shown.
export function plainWords(text: string): string {
  return text.replace(/<[^>]*>/g, '').replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&amp;/g, '&').trim();
}

export function Notices({ tool, answer }: { tool: ToolInfo; answer: ToolAnswer | null }) {
  const mayCapture = useMay('capture');
  const notices = answer?.notices ?? [];
  const said = notices.length > 0 || (answer !== null && !answer.partial && tool.applies);
  return (
    <>
      {!tool.applies && (
        <NoticeLine
          severity="info"
          hint={tool.hint}
          action={
            mayCapture && (
              <button type="button" className="button small" onClick={() => openCapture()}>
                <Icon name="capture" />
                Capture again
              </button>
            )
          }
        >
          <strong>{tool.title} has nothing to show for this session.</strong> {tool.reason}
        </NoticeLine>
      )}
      {notices.map((notice, i) => (
        <NoticeLine key={i} severity={notice.severity} hint={plainWords(notice.hint)}>
          {plainWords(notice.message)}
        </NoticeLine>
      ))}
      {!said && answer?.partial && <NoticeLine severity="warning">Part of the session could not be read. What is shown is what could.</NoticeLine>}
    </>
  );
}
