// Share links of a project: what they open, for whom, until when; take one back.
import { useState } from 'react';
import { accessApi } from '../access/client';
import { useMay, useMe } from '../access/me';
import { containsFilter, shortName } from '../access/rights';
import type { ShareLink } from '../access/types';
import { defaultProject } from '../runs/client';
import { lastPart } from '../runs/runs';
import { linkAddress } from '../share/links';
import { pushKeys, useUrlKey } from '../state/url';
import { ConfirmDialog } from '../ui/ConfirmDialog';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { usePages } from '../ui/pages';
import { copyText, showToast } from '../ui/toasts';
import { AccessHead, AccessTable, ended, When } from './AccessTable';
import { ProjectPicker, useProjects } from './ProjectField';

const kindWords: Readonly<Record<ShareLink['kind'], string>> = { SESSION: 'Session', RUN: 'Run', VIEW: 'View' };

// `own`: on the account page, only what the caller made.
export function LinksPart({ own = false }: { own?: boolean }) {
  const me = useMe();
  const projects = useProjects('edit');
  const q = useUrlKey('q') ?? '';
  const project = useUrlKey('project') ?? projects[0] ?? defaultProject;
  const subject = me?.subject ?? '';
  const filter = own ? `created_by = "${subject}"` : containsFilter(q, ['target', 'created_by', 'name']);
  const list = usePages<ShareLink>(`links/${project}/${filter}`, (page, signal) => accessApi.links({ project, filter, order_by: 'create_time desc', page_token: page }, { signal }), (link) => link.id, { everyMs: 5000 });
  const admin = useMay('admin', project);
  const [revoking, setRevoking] = useState<ShareLink | null>(null);
  const now = Date.now();
  return (
    <>
      <AccessHead
        title={own ? 'Links that you made' : `Share links in ${project}`}
        about="A link opens one session, one run or one exact view, to look at only. It ends at its time, when it is taken back, and when whoever made it may not share any more."
        count={list.known ? list.items.length : null}
        more={list.hasMore}
        find={own ? undefined : 'Session, run or maker'}
      >
        <ProjectPicker project={project} right="edit" everywhere={false} onChange={(next) => pushKeys({ project: next })} />
      </AccessHead>
      <AccessTable
        label="Share links"
        list={list}
        keyOf={(link) => link.id}
        dimmed={(link) => ended(link, now) !== null}
        empty={q && !own ? `No link has ${q} in it.` : `No link in ${project}. Open a session or a run and press Share.`}
        columns={[
          { label: 'Opens', cell: (link) => <Link to={link.view}>{`${kindWords[link.kind]} ${lastPart(link.target)}`}</Link>, title: (link) => link.view },
          { label: 'For', width: 190, cell: (link) => <Audience link={link} /> },
          ...(own ? [] : [{ label: 'Made by', width: 130, cell: (link: ShareLink) => shortName(link.created_by) }]),
          { label: 'Made', width: 110, cell: (link) => <When time={link.create_time} /> },
          { label: 'Ends', width: 110, cell: (link) => (ended(link, now) === 'revoked' ? 'taken back' : ended(link, now) === 'expired' ? 'over' : <When time={link.expire_time} />) },
          {
            label: '',
            width: 190,
            number: true,
            cell: (link) =>
              ended(link, now) === null && (
                <span className="row-actions">
                  <button type="button" className="button small" onClick={() => void copyText(linkAddress(link), 'Link')}>
                    <Icon name="copy" />
                    Copy
                  </button>
                  {(admin || link.created_by === subject) && (
                    <button type="button" className="button small danger" onClick={() => setRevoking(link)}>
                      Take back
                    </button>
                  )}
                </span>
              ),
          },
        ]}
      />
      {revoking && (
        <ConfirmDialog
          title="Take this link back?"
          verb="Take back"
          failed="The link was not taken back."
          goes="the link, for everybody who has it, within a second. A copied link does not come back to life."
          stays={`the ${kindWords[revoking.kind].toLowerCase()} itself, and other links to it.`}
          change={() => accessApi.revokeLink(revoking.id)}
          onClose={() => setRevoking(null)}
          onDone={() => {
            showToast({ tone: 'good', icon: 'check', text: 'The link was taken back.' });
            list.reload();
          }}
        />
      )}
    </>
  );
}

export function Audience({ link }: { link: ShareLink }) {
  return link.audience === 'ANYONE' ? <span className="chip partial"><Icon name="open" />Anyone with the link</span> : <span className="chip"><Icon name="user" />Anyone signed in</span>;
}
