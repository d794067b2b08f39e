// Whose list is shown: projects with runs, those one has a role in, and any other by its name (a project may have profiles only).
import { useId, useState } from 'react';
import { useMe } from '../access/me';
import { everyProject, mayDo } from '../access/rights';
import type { Me, Right } from '../access/types';
import { api } from '../api/client';
import { defaultProject } from '../runs/client';
import { useResource } from '../ui/useResource';

// In order of names, but first the one that always is.
export function offeredProjects(me: Me | null, withRuns: readonly string[], right: Right): string[] {
  const names = new Set([...withRuns, ...Object.keys(me?.rights?.projects ?? {}), defaultProject]);
  return [...names].filter((name) => name !== everyProject && mayDo(me, right, name)).sort((a, b) => (a === defaultProject ? -1 : b === defaultProject ? 1 : a.localeCompare(b)));
}

export function useProjects(right: Right): string[] {
  const me = useMe();
  const withRuns = useResource('projects', (signal) => api.projects({ signal })).value?.projects ?? [];
  return offeredProjects(me, withRuns, right);
}

export const projectWord = (project: string): string => (project === everyProject ? 'all projects' : project);

interface ProjectPickerProps {
  project: string;
  right: Right;
  everywhere: boolean; // Whether "all projects" is one of the choices.
  onChange: (project: string) => void;
}

export function ProjectPicker({ project, right, everywhere, onChange }: ProjectPickerProps) {
  const projects = useProjects(right);
  const id = useId();
  const [text, setText] = useState<string | null>(null);
  const take = (value: string) => {
    const name = value.trim() === 'all projects' ? everyProject : value.trim();
    setText(null);
    if (name && name !== project) onChange(name);
  };
  return (
    <label className="project-picker">
      <span className="label">Project</span>
      <input
        className="input"
        list={id}
        value={text ?? projectWord(project)}
        aria-label="Project"
        spellCheck={false}
        onFocus={() => setText('')}
        onChange={(event) => {
          const value = event.target.value;
          setText(value);
          if (projects.includes(value) || value === 'all projects') {
            take(value);
            event.target.blur();
          }
        }}
        onBlur={(event) => text !== null && take(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur();
          if (event.key !== 'Escape') return;
          setText(null);
          event.currentTarget.value = '';
          event.currentTarget.blur();
        }}
      />
      <datalist id={id}>
        {everywhere && <option value="all projects" />}
        {projects.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  );
}
