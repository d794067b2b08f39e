// A user, group or service account: typed, or taken from those there are. Who may not list them types the whole name.
import { useId } from 'react';
import { accessApi } from '../access/client';
import { useMay } from '../access/me';
import { everyProject } from '../access/rights';
import { Field } from '../ui/states';
import { useResource } from '../ui/useResource';

const mostOffered = 1000;

interface Offered {
  readonly subject: string;
  readonly name: string;
}

async function everybody(groups: boolean, signal: AbortSignal): Promise<Offered[]> {
  const asked = { page_size: mostOffered };
  const [users, accounts, teams] = await Promise.all([
    accessApi.users(asked, { signal }),
    accessApi.accounts(asked, { signal }),
    groups ? accessApi.groups(asked, { signal }) : Promise.resolve({ items: [], next: null }),
  ]);
  return [
    ...teams.items.map((one) => ({ subject: `group:${one.name}`, name: one.display_name })),
    ...users.items.map((one) => ({ subject: `user:${one.name}`, name: one.display_name })),
    ...accounts.items.map((one) => ({ subject: `service:${one.name}`, name: one.display_name })),
  ];
}

interface SubjectFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  groups: boolean;
  autofocus?: boolean;
}

export function SubjectField({ label, value, onChange, groups, autofocus = false }: SubjectFieldProps) {
  const mayList = useMay('admin', everyProject);
  const offered = useResource(mayList ? `subjects/${groups}` : null, (signal) => everybody(groups, signal)).value ?? [];
  const id = useId();
  return (
    <Field label={label} hint={`user:NAME, ${groups ? 'group:NAME, ' : ''}service:NAME`}>
      <input className="input mono" list={id} value={value} data-autofocus={autofocus || undefined} onChange={(event) => onChange(event.target.value)} required spellCheck={false} autoCapitalize="none" />
      <datalist id={id}>
        {offered.map((one) => (
          <option key={one.subject} value={one.subject}>
            {one.name}
          </option>
        ))}
      </datalist>
    </Field>
  );
}
