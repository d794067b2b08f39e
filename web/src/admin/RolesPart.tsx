// Who has which role in a project. One person may have several; the rights add up.
import { useState } from 'react';
import { accessApi } from '../access/client';
import { useMay, useMe } from '../access/me';
import { containsFilter, everyProject, mayDo, roleMeaning, roles, shortName } from '../access/rights';
import type { RoleBinding } from '../access/types';
import { defaultProject } from '../runs/client';
import { pushKeys, useUrlKey } from '../state/url';
import { ConfirmDialog } from '../ui/ConfirmDialog';
import { Dialog } from '../ui/Dialog';
import { FormButtons, useChange } from '../ui/forms';
import { usePages } from '../ui/pages';
import { ErrorNotice, Field, Select } from '../ui/states';
import { showToast } from '../ui/toasts';
import { AccessHead, AccessTable, When } from './AccessTable';
import { ProjectPicker, projectWord, useProjects } from './ProjectField';
import { SubjectField } from './SubjectField';

export function RolesPart() {
  const me = useMe();
  const server = useMay('admin', everyProject);
  const own = useProjects('admin');
  const q = useUrlKey('q') ?? '';
  const asked = useUrlKey('project');
  const project = asked ?? (server ? everyProject : (own[0] ?? defaultProject));
  const filter = containsFilter(q, ['subject', 'role']);
  const list = usePages<RoleBinding>(`roles/${project}/${filter}`, (page, signal) => accessApi.roles({ project, filter, order_by: 'subject', page_token: page }, { signal }), (role) => role.id, { everyMs: 5000 });
  const [giving, setGiving] = useState(false);
  const [taking, setTaking] = useState<RoleBinding | null>(null);
  return (
    <>
      <AccessHead
        title={project === everyProject ? 'Roles in all projects' : `Roles in ${project}`}
        about={
          project === everyProject
            ? 'These hold in every project, also in those to come. Admin of all projects administers the server: users, groups, service accounts, audit.'
            : 'These hold in this project only. Who has a role in all projects is not repeated here.'
        }
        count={list.known ? list.items.length : null}
        more={list.hasMore}
        find="User, group or role"
      >
        <ProjectPicker project={project} right="admin" everywhere={server} onChange={(next) => pushKeys({ project: next })} />
        {mayDo(me, 'admin', project) && (
          <button type="button" className="button primary" onClick={() => setGiving(true)}>
            Give a role
          </button>
        )}
      </AccessHead>
      <AccessTable
        label="Roles"
        list={list}
        keyOf={(role) => role.id}
        empty={q ? `No role has ${q} in it.` : project === everyProject ? 'Nobody has a role in all projects.' : 'Nobody has a role in this project of its own. Give one to a group, so that people come and go without another change here.'}
        columns={[
          { label: 'Who', cell: (role) => <span className="mono">{role.subject}</span>, title: (role) => role.subject },
          { label: 'Role', width: 150, cell: (role) => <strong className="name">{role.role}</strong> },
          { label: 'What it opens', cell: (role) => <span className="text2">{roleMeaning[role.role] ?? ''}</span> },
          { label: 'Given by', width: 150, cell: (role) => shortName(role.created_by) },
          { label: 'Since', width: 110, cell: (role) => <When time={role.create_time} /> },
          {
            label: '',
            width: 110,
            number: true,
            cell: (role) => (
              <button type="button" className="button small danger" onClick={() => setTaking(role)}>
                Take away
              </button>
            ),
          },
        ]}
      />
      {giving && (
        <GiveRoleDialog
          project={project}
          onClose={() => setGiving(false)}
          onDone={(text) => {
            setGiving(false);
            showToast({ tone: 'good', icon: 'check', text });
            list.reload();
          }}
        />
      )}
      {taking && (
        <ConfirmDialog
          title={`Take ${taking.role} from ${taking.subject}?`}
          verb="Take away"
          failed="The role was not taken away."
          goes={`what the role opens in ${projectWord(taking.project)}, within a second. Links that ${shortName(taking.subject)} made end with the right to share.`}
          stays={`the account, and roles that ${shortName(taking.subject)} has elsewhere or through groups.`}
          change={() => accessApi.takeRole(taking.id)}
          onClose={() => setTaking(null)}
          onDone={() => {
            showToast({ tone: 'good', icon: 'check', text: `${taking.subject} is not ${taking.role} of ${projectWord(taking.project)} any more.` });
            list.reload();
          }}
        >
          {taking.subject === me?.subject && taking.role === 'admin' && <p className="crit">This is your own role. Without it you cannot give it back to yourself.</p>}
        </ConfirmDialog>
      )}
    </>
  );
}

function GiveRoleDialog({ project, onDone, onClose }: { project: string; onDone: (text: string) => void; onClose: () => void }) {
  const [subject, setSubject] = useState('');
  const [role, setRole] = useState<string>('viewer');
  const { error, busy, send } = useChange<unknown>(() => onDone(`${subject.trim()} is ${role} of ${projectWord(project)} now.`));
  return (
    <Dialog title={`Give a role in ${projectWord(project)}`} onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(() => accessApi.giveRole({ project, subject: subject.trim(), role }));
        }}
      >
        <SubjectField label="To" value={subject} groups onChange={setSubject} autofocus />
        <Field label="Role" hint={roleMeaning[role]}>
          <Select value={role} choices={roles.map((one) => ({ value: one, label: one }))} onChange={setRole} />
        </Field>
        {project === everyProject && role === 'admin' && <p className="text2">This makes an administrator of the whole server.</p>}
        {error && <ErrorNotice what="The role was not given." error={error} />}
        <FormButtons busy={busy} verb="Give" disabled={!subject.trim()} onClose={onClose} />
      </form>
    </Dialog>
  );
}
