// Runs beside each other: the first one's page, the others in the address (`with=location/id,...`), all of one project.
import type { RunKey } from './client';
import { type ConfigRow, keyOf, runAddress } from './runs';

export function withText(keys: readonly RunKey[]): string | null {
  return keys.length > 0 ? keys.map((key) => `${key.location}/${key.id}`).join(',') : null;
}

export function compareAddress(names: readonly string[]): string {
  const [first, ...others] = names.map(keyOf);
  const text = others.map((key) => `${encodeURIComponent(key.location)}/${encodeURIComponent(key.id)}`).join(',');
  return runAddress(first!, `?tab=configs&with=${text}`);
}

export interface ComparedRow {
  readonly section: string;
  readonly key: string;
  readonly values: readonly (string | null)[]; // One for each run; null: it has no such setting.
  readonly differs: boolean;
}

const sectionOrder = ['User', 'Software', 'Hardware', 'Label'];

// One row for each setting that any of the runs has.
export function compareConfigs(runs: readonly (readonly ConfigRow[])[]): ComparedRow[] {
  const rows = new Map<string, { section: string; key: string; values: (string | null)[] }>();
  runs.forEach((configs, at) => {
    for (const { section, key, value } of configs) {
      const id = `${section}/${key}`;
      let row = rows.get(id);
      if (!row) rows.set(id, (row = { section, key, values: new Array<string | null>(runs.length).fill(null) }));
      row.values[at] = value;
    }
  });
  return [...rows.values()]
    .map((row) => ({ ...row, differs: row.values.some((value) => value !== row.values[0]) }))
    .sort((a, b) => sectionOrder.indexOf(a.section) - sectionOrder.indexOf(b.section) || a.key.localeCompare(b.key));
}
