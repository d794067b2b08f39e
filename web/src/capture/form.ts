// What the Capture dialog asks for, checked before it is sent.
import type { CaptureRequest } from '../api/types';

export interface CaptureForm {
  targets: string;
  seconds: string;
  hostLevel: number;
  device: boolean;
  python: boolean;
  root: string;
  run: string;
  session: string;
}

export type FormErrors = Partial<Record<'targets' | 'seconds' | 'run' | 'session', string>>;

export const longestCaptureSeconds = 600; // Longer captures are lost to profiler buffers long before.

export const hostLevels = [
  { value: 0, label: 'Off' },
  { value: 1, label: 'Critical' },
  { value: 2, label: 'Info' },
  { value: 3, label: 'Verbose' },
] as const;

export function emptyForm(defaultTarget: string | null): CaptureForm {
  return { targets: defaultTarget ?? '', seconds: '2', hostLevel: 2, device: true, python: false, root: '', run: '', session: '' };
}

export function splitTargets(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
}

function targetFault(target: string): string | null {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/.exec(target);
  const port = match ? Number(match[2]) : 0;
  return match && port >= 1 && port <= 65535 ? null : `"${target}" is not HOST:PORT. Write for example 127.0.0.1:9012.`;
}

export function checkForm(form: CaptureForm): { request: CaptureRequest | null; errors: FormErrors } {
  const errors: FormErrors = {};
  const targets = splitTargets(form.targets);
  const fault = targets.map(targetFault).find((text) => text !== null);
  if (targets.length === 0) errors.targets = 'Name at least one HOST:PORT.';
  else if (fault) errors.targets = fault;
  const seconds = Number(form.seconds.trim().replace(',', '.').replace(/\s*s$/, ''));
  if (!Number.isFinite(seconds) || seconds < 0.01 || seconds > longestCaptureSeconds) {
    errors.seconds = `A length from 0.01 to ${longestCaptureSeconds} s.`;
  }
  const run = form.run.trim();
  if (run && (run.startsWith('/') || run.split('/').some((part) => part === '' || part === '.' || part === '..'))) {
    errors.run = 'A path below the log directory, such as llama/run1.';
  }
  const session = form.session.trim();
  if (session && !/^[A-Za-z0-9._-]+$/.test(session)) errors.session = 'Letters, digits, dot, dash and underscore.';
  if (Object.keys(errors).length > 0) return { request: null, errors };
  return {
    errors,
    request: {
      targets,
      duration_ms: Math.round(seconds * 1000),
      ...(session ? { session } : {}),
      ...(run ? { run } : {}),
      root: form.root || null,
      host_tracer_level: form.hostLevel,
      device_tracer_level: form.device ? 1 : 0,
      python_tracer_level: form.python ? 1 : 0,
      options: {},
    },
  };
}
