// The console's own icon set: 16 px, 1.5 px strokes, always beside a word or with a label on its button.
const paths = {
  overview: 'M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3.5H9zM2.5 11h4.5v2.5H2.5zM9 8.5h4.5v5H9z',
  timeline: 'M2 3.5h6M5 8h8M2 12.5h5M10.5 12.5H14M11 3.5h3',
  ops: 'M2.5 13.5v-11M2.5 4h10M2.5 8h6.5M2.5 12h3.5',
  memory: 'M4 4h8v8H4zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5',
  comms: 'M2 5.5h11M10 2.5l3 3-3 3M14 10.5H3M6 7.5l-3 3 3 3',
  input: 'M8 2v7.5M5 6.5L8 9.5l3-3M2.5 10.5v3h11v-3',
  roofline: 'M2.5 2.5v11h11M4.5 11.5L9 5.5h4.5',
  graph: 'M8 1.8v3.4M5 5.2h6v2.6H5zM8 7.8L4 10.6M8 7.8l4 2.8M1.8 10.8h4.4v3H1.8zM9.8 10.8h4.4v3H9.8z',
  counters: 'M2.5 13.5V9M6.2 13.5v-8M9.8 13.5V8M13.5 13.5v-11',
  report: 'M3.5 1.8h6l3 3v9.4h-9zM9.5 1.8v3h3M5.8 8h4.4M5.8 11h4.4',
  files: 'M2 4.2V13h12V5.5H8L6.5 3.5H2zM5.2 9.3l1.9 1.8 3.6-3.4',
  sessions: 'M2 3.5h12M2 8h12M2 12.5h12',
  runs: 'M2 3.5h4v4H2zM2 9.5h4v4H2zM8.5 4.5h5.5M8.5 6.8h3.5M8.5 10.5h5.5M8.5 12.8h3.5',
  capture: 'M8 8m-5.8 0a5.8 5.8 0 1 0 11.6 0a5.8 5.8 0 1 0 -11.6 0M8 8m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0',
  monitor: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  query: 'M2.5 3.5l4 4.5-4 4.5M8 12.5h5.5',
  admin: 'M2 4.5h7M12 4.5h2M10.5 4.5m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0 -3 0M2 11.5h2M7 11.5h7M5.5 11.5m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0 -3 0',
  user: 'M8 5m-2.8 0a2.8 2.8 0 1 0 5.6 0a2.8 2.8 0 1 0 -5.6 0M2.8 14a5.2 5.2 0 0 1 10.4 0',
  share: 'M3.5 8.5v5h9v-5M8 10.2V2.2M5 5l3-3 3 3',
  download: 'M3.5 10.5v3h9v-3M8 2.2v8M5 7.4l3 3 3-3',
  filter: 'M2 3.5h12l-4.6 5.4v4.3l-2.8-1.5V8.9z',
  search: 'M7 7m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0M10.3 10.3L14 14',
  help: 'M8 8m-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.6.2-.8.5-.8 1.2M8 11.4v.2',
  link: 'M6.8 9.2l2.4-2.4M7.4 4.6l1.3-1.3a2.8 2.8 0 0 1 4 4l-1.3 1.3M8.6 11.4l-1.3 1.3a2.8 2.8 0 0 1-4-4l1.3-1.3',
  light: 'M8 8m-2.8 0a2.8 2.8 0 1 0 5.6 0a2.8 2.8 0 1 0 -5.6 0M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1',
  dark: 'M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z',
  system: 'M1.8 2.8h12.4v8H1.8zM5.5 13.5h5M8 10.8v2.7',
  contrast: 'M8 8m-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M8 2v12M8 2a6 6 0 0 1 0 12',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  check: 'M2.8 8.5l3.4 3.4 7-7.6',
  complete: 'M8 8m-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M5.2 8.2l2 2 3.6-4.1',
  partial: 'M8 8m-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M8 4.8v3.8M8 10.9v.3',
  damaged: 'M8 1.8l6.4 11.6H1.6zM8 6.2v3.6M8 11.5v.3',
  empty: 'M8 8m-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M5.2 8h5.6',
  writing: 'M8 8m-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M8 4.6V8l2.4 1.6',
  unread: 'M8 2a6 6 0 0 1 3 .8M13.2 5a6 6 0 0 1 0 6M11 13.2a6 6 0 0 1-6 0M2.8 11a6 6 0 0 1 0-6M5 2.8A6 6 0 0 1 8 2',
  up: 'M8 12.5v-9M4.5 7L8 3.5 11.5 7',
  down: 'M8 3.5v9M4.5 9L8 12.5 11.5 9',
  left: 'M10 3.5L5.5 8l4.5 4.5',
  right: 'M6 3.5L10.5 8 6 12.5',
  chevron: 'M4.5 6.2L8 9.8l3.5-3.6',
  reload: 'M13.5 8a5.5 5.5 0 1 1-1.6-3.9L13.5 5.7M13.5 2.2v3.5H10',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  fold: 'M2 2.8h12v10.4H2zM6 2.8v10.4',
  open: 'M6 3.5H2.8v9.7h9.7V10M9 2.8h4.2V7M13 3L7.5 8.5',
  offline: 'M2 2l12 12M1.8 6.2A9 9 0 0 1 5 4.3M14.2 6.2A9 9 0 0 0 7.8 3.6M4.2 9A5.5 5.5 0 0 1 7.2 7.4M8 12v.3',
} as const;

export type IconName = keyof typeof paths;
export const iconNames = Object.keys(paths) as readonly IconName[];

export function Icon({ name, className }: { name: IconName; className?: string }) {
  return (
    <svg className={className ? 'icon ' + className : 'icon'} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
