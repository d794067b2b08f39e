// Groups: who is in them. A role of a group is a role of all its members.
import { useDeferredValue, useState } from 'react';
import { accessApi } from '../access/client';
import { containsFilter, shortName } from '../access/rights';
import type { Group } from '../access/types';
import { formatCount, plural } from '../format/format';
import { useUrlKey } from '../state/url';
import { ConfirmDialog } from '../ui/ConfirmDialog';
import { Dialog } from '../ui/Dialog';
import { FormButtons, useChange } from '../ui/forms';
import { Icon } from '../ui/Icon';
import { usePages } from '../ui/pages';
import { ErrorNotice, Field } from '../ui/states';
import { showToast } from '../ui/toasts';
import { AccessHead, AccessTable, When } from './AccessTable';
import { SubjectField } from './SubjectField';

type Layer = { kind: 'create' } | { kind: 'members' | 'delete'; name: string };

export function GroupsPart() {
  const q = useDeferredValue(useUrlKey('q') ?? '');
  const filter = containsFilter(q, ['name', 'display_name']);
  const list = usePages<Group>(`groups/${filter}`, (page, signal) => accessApi.groups({ filter, page_token: page }, { signal }), (group) => group.name, { everyMs: 5000 });
  const [layer, setLayer] = useState<Layer | null>(null);
  const of = (name: string) => list.items.find((group) => group.name === name);
  const shown = layer && layer.kind !== 'create' ? of(layer.name) : undefined;
  return (
    <>
      <AccessHead title="Groups" about="A role that is given to a group holds for all in it. Groups hold users and service accounts, not other groups." count={list.known ? list.items.length : null} more={list.hasMore} find="Name of a group">
        <button type="button" className="button primary" onClick={() => setLayer({ kind: 'create' })}>
          Add a group
        </button>
      </AccessHead>
      <AccessTable
        label="Groups"
        list={list}
        keyOf={(group) => group.name}
        empty={q ? `No group has ${q} in its name.` : 'No group yet. Add one for each team, then give it a role under Roles.'}
        columns={[
          { label: 'Group', width: 220, cell: (group) => <strong className="name">{group.name}</strong> },
          { label: 'Name', width: 220, cell: (group) => group.display_name },
          {
            label: 'Members',
            cell: (group) => (
              <>
                <span className="host-count">{formatCount(group.members.length)}</span>
                {group.members.map(shortName).join(', ') || <span className="muted">nobody</span>}
              </>
            ),
            title: (group) => group.members.join(', '),
          },
          { label: 'Made', width: 110, cell: (group) => <When time={group.create_time} /> },
          {
            label: '',
            width: 180,
            number: true,
            cell: (group) => (
              <span className="row-actions">
                <button type="button" className="button small" onClick={() => setLayer({ kind: 'members', name: group.name })}>
                  Members
                </button>
                <button type="button" className="button small danger" onClick={() => setLayer({ kind: 'delete', name: group.name })}>
                  Delete
                </button>
              </span>
            ),
          },
        ]}
      />
      {layer?.kind === 'create' && <CreateGroupDialog onClose={() => setLayer(null)} onMade={(name) => { list.reload(); setLayer({ kind: 'members', name }); }} />}
      {layer?.kind === 'members' && shown && <MembersDialog group={shown} onClose={() => setLayer(null)} onChanged={list.reload} />}
      {layer?.kind === 'delete' && shown && (
        <ConfirmDialog
          title={`Delete the group ${shown.name}?`}
          verb="Delete"
          failed="The group was not deleted."
          goes={`the group and the roles it has. ${plural(shown.members.length, 'member')} ${shown.members.length === 1 ? 'loses' : 'lose'} what only the group gave, at once.`}
          stays="the accounts of its members, with the roles of their own and of other groups."
          change={() => accessApi.deleteGroup(shown.name)}
          onClose={() => setLayer(null)}
          onDone={() => {
            showToast({ tone: 'good', icon: 'check', text: `The group ${shown.name} was deleted.` });
            list.reload();
          }}
        />
      )}
    </>
  );
}

function CreateGroupDialog({ onMade, onClose }: { onMade: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  const [display, setDisplay] = useState('');
  const { error, busy, send } = useChange<unknown>(() => onMade(name.trim()));
  return (
    <Dialog title="Add a group" onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(() => accessApi.createGroup({ name: name.trim(), display_name: display.trim() }));
        }}
      >
        <Field label="Name" hint="Letters, digits and . _ - + @; it cannot be changed later.">
          <input className="input" data-autofocus value={name} onChange={(event) => setName(event.target.value)} required maxLength={128} spellCheck={false} />
        </Field>
        <Field label="Name as shown">
          <input className="input" value={display} onChange={(event) => setDisplay(event.target.value)} maxLength={200} />
        </Field>
        {error && <ErrorNotice what="The group was not added." error={error} />}
        <FormButtons busy={busy} verb="Add" disabled={!name.trim()} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function MembersDialog({ group, onChanged, onClose }: { group: Group; onChanged: () => void; onClose: () => void }) {
  const [subject, setSubject] = useState('');
  const { error, busy, send } = useChange<unknown>(() => {
    setSubject('');
    onChanged();
  });
  return (
    <Dialog title={`Members of ${group.name}`} onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(() => accessApi.addMember(group.name, subject.trim()));
        }}
      >
        {group.members.length === 0 ? (
          <p className="muted">Nobody is in this group yet.</p>
        ) : (
          <ul className="members" aria-label={`Members of ${group.name}`}>
            {group.members.map((member) => (
              <li key={member}>
                <span className="mono truncate">{member}</span>
                <button type="button" className="button plain square small" aria-label={`Take ${member} out`} title={`Take ${member} out`} disabled={busy} onClick={() => send(() => accessApi.removeMember(group.name, member))}>
                  <Icon name="close" />
                </button>
              </li>
            ))}
          </ul>
        )}
        <div className="add-line">
          <SubjectField label="Take in" value={subject} groups={false} onChange={setSubject} autofocus />
          <button type="submit" className="button primary" disabled={busy || !subject.trim()}>
            Add
          </button>
        </div>
        {error && <ErrorNotice what="The group was not changed." error={error} />}
        <footer>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
