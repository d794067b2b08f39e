// Made-up answers for the gallery: small, fixed, and with a long name, an unknown value and a true zero in each.
import { ApiError } from '../api/client';
import type { Block } from '../charts/BlockMap';
import type { LineSeries } from '../charts/LineChart';
import type { Device, Point } from '../charts/roof';
import type { Bar, Part } from '../charts/StackedBars';
import type { TreemapItem } from '../charts/Treemap';
import type { Row, ToolAnswer, ToolInfo, ToolTable } from '../tools/types';
import type { Pages } from '../ui/pages';
import type { Resource } from '../ui/useResource';

const nothing = () => undefined;

export const fault = new ApiError(500, {
  code: 'INTERNAL',
  name: 'PROFILE_UNREADABLE',
  message: 'Host 3 stopped after 340 of 980 MiB: the storage closed the connection.',
  hint: 'Try again. If it stays, look whether the bucket can be reached from the server.',
  request_id: 'r-0000c0de',
});

// ---- a tool and its answers -------------------------------------------------------------------------------------------
export const tool: ToolInfo = {
  id: 'gallery_ops',
  aliases: [],
  title: 'Kernels',
  question: 'Which kernel costs most?',
  version: 1,
  options: [
    { name: 'group_by', type: 'string', defaultValue: 'name', choices: ['name', 'program'], description: 'What rows are folded by' },
    { name: 'show_idle', type: 'boolean', defaultValue: 'true', choices: [], description: 'Count idle time too' },
    { name: 'most', type: 'integer', defaultValue: '100', choices: [], description: 'Rows at most' },
  ],
  scope: 'selection',
  listed: true,
  applies: true,
  reason: '',
  hint: '',
};
export const toolWithout: ToolInfo = { ...tool, applies: false, reason: 'It lists kernels of a GPU, and no plane of this profile holds one.', hint: 'Capture with device tracing on while the job runs on a GPU.' };

const cells: readonly (readonly [string, string, number, number, number | null])[] = [
  ['gemm_fusion_dot_general.1', 'convolution', 412_600, 2304, 55.7],
  ['loop_add_multiply_fusion_with_a_very_long_name_that_gives_way_in_the_middle.12', 'loop fusion', 88_120, 2304, 11.9],
  ['all-reduce.7', 'all-reduce', 60_400, 128, 8.2],
  ['copy-done.4', 'copy-done', 14_050, 64, null],
  ['infeed.1', 'infeed', 0, 0, 0],
];
export const table: ToolTable = {
  id: 'ops',
  title: 'Kernels',
  columns: [
    { id: 'name', label: 'Name', type: 'string', unit: '', description: 'As the compiler calls it' },
    { id: 'category', label: 'Category', type: 'string', unit: '', description: '' },
    { id: 'time', label: 'Total', type: 'number', unit: 'us', description: '' },
    { id: 'count', label: 'Runs', type: 'number', unit: '', description: '' },
    { id: 'share', label: 'Of all time', type: 'number', unit: 'percent', description: '' },
  ],
  rows: cells.map((row, index) => ({ index, cells: row, subject: null })),
  totalRows: cells.length,
  properties: {},
};
export const emptyTable: ToolTable = { ...table, rows: [], totalRows: 0 };

const whole: ToolAnswer = { tool: tool.id, tables: [table], document: null, text: null, contentType: '', notices: [], partial: false };
const resource = (changes: Partial<Resource<ToolAnswer>>): Resource<ToolAnswer> => ({ value: null, error: null, loading: false, reload: nothing, ...changes });

export const stateNames = ['whole', 'loading', 'partial', 'empty', 'error', 'lossy', 'stale'] as const;
export type StateName = (typeof stateNames)[number];
export const answers: Readonly<Record<StateName, { tool: ToolInfo; answer: Resource<ToolAnswer> }>> = {
  whole: { tool, answer: resource({ value: whole }) },
  loading: { tool, answer: resource({ loading: true }) },
  partial: { tool, answer: resource({ value: { ...whole, partial: true } }) },
  empty: { tool: toolWithout, answer: resource({ value: { ...whole, tables: [emptyTable] } }) },
  error: { tool, answer: resource({ error: fault }) },
  lossy: { tool, answer: resource({ value: { ...whole, notices: [{ severity: 'warning', name: 'EVENTS_DROPPED', message: 'Host 3 dropped 812,331 events of the plane /host:CPU after 4.2 s.', hint: 'Times of that host are a lower bound. Capture for a shorter time.' }] } }) },
  stale: { tool, answer: resource({ value: whole }) }, // The page says so above it.
};

// ---- charts -------------------------------------------------------------------------------------------------------------
export const stepParts: readonly Part[] = [
  { id: 'compute', label: 'Compute', category: 'matmul' },
  { id: 'fusion', label: 'Fusion', category: 'fusion' },
  { id: 'collective', label: 'Collectives', category: 'collective' },
  { id: 'transfer', label: 'Host transfer', category: 'transfer' },
  { id: 'idle', label: 'Idle', category: 'other' },
];
export const stepBars: readonly Bar[] = Array.from({ length: 12 }, (_, i) => ({ label: String(i + 4), values: [220e9, 60e9 + i * 2e9, 40e9, i === 7 ? 140e9 : 22e9, 18e9] }));

export const areaXs = [0, 2, 3, 5, 8, 9, 12];
export const areaSeries = [
  { id: 'stack', label: 'Program', category: 'matmul', values: [4, 6, 9, 9, 12, 7, 4].map((value) => value * 2 ** 30) },
  { id: 'heap', label: 'Buffers', category: 'fusion', values: [8, 8, 10, 14, 14, 9, 8].map((value) => value * 2 ** 30) },
];
export const memoryLimit = { value: 31.3 * 2 ** 30, label: 'limit 31.3 GiB' };

const curveX = Array.from({ length: 40 }, (_, i) => i * 10);
const curve = (id: string, label: string, category: string, of: (x: number) => number, dash?: string): LineSeries => {
  const mean = curveX.map((x) => (x > 180 && x < 230 ? null : of(x)));
  return { id, label, category, dash, x: curveX, mean, min: mean.map((value) => value && value * 0.93), max: mean.map((value) => value && value * 1.06), gap: Number.POSITIVE_INFINITY };
};
export const curves: readonly LineSeries[] = [curve('a', 'llama-8b-142', 'matmul', (x) => 2 + 6 * Math.exp(-x / 120)), curve('b', 'llama-8b-141', 'collective', (x) => 2.4 + 6 * Math.exp(-x / 150), '6 3')];
export const curveRange: readonly [number, number] = [0, 390];
export const curveMarks = [
  { x: 120, label: 'Profile at step 120', to: '/' },
  { x: 300, label: 'Profile at step 300, gone', to: null },
];

const hbm = { id: 'hbm', label: 'HBM', intensity: '', bandwidth: '', peak: 1525 };
export const device: Device = { name: 'TPU v6e', peakGflops: 918_000, memories: [hbm] };
const point = (index: number, name: string, colour: string, x: number, y: number, share: number): Point => ({ row: { index, cells: [], subject: null } as Row, name, category: colour, colour, x, y, share, bound: 'HBM' });
export const points: readonly Point[] = [
  point(0, 'dot.12', 'matmul', 620, 610_000, 0.42),
  point(1, 'fusion.3', 'fusion', 1.4, 1900, 0.21),
  point(2, 'convert.9', 'movement', 0.2, 240, 0.08),
  point(3, 'flash_fwd', 'kernel', 140, 180_000, 0.12),
];

const gib = 2 ** 30;
export const owners: readonly TreemapItem[] = [
  { id: 'weights', label: 'weights', size: 12 * gib, category: 'matmul', title: 'weights, 12.0 GiB' },
  { id: 'optimizer', label: 'optimizer', size: 8 * gib, category: 'kernel', title: 'optimizer, 8.00 GiB' },
  { id: 'activations', label: 'activations', size: 5 * gib, category: 'reduce', title: 'activations, 5.00 GiB' },
  { id: 'temporaries', label: 'temporaries', size: 1.6 * gib, category: 'movement', title: 'temporaries, 1.60 GiB' },
  { id: 'holes', label: 'holes', size: 0.5 * gib, category: 'other', title: 'holes, 512 MiB' },
];
export const blocks: readonly Block[] = [
  { id: 'a', name: 'weights', offset: 0, size: 6 * gib, start: 0, end: 40, category: 'matmul', words: 'weights' },
  { id: 'b', name: 'fusion.3', offset: 6 * gib, size: 2 * gib, start: 4, end: 18, category: 'fusion', words: 'fusion.3' },
  { id: 'c', name: 'copy.1', offset: 8 * gib, size: gib, start: 12, end: 30, category: 'movement', words: 'copy.1' },
  { id: 'd', name: 'all-reduce.7', offset: 6 * gib, size: 1.5 * gib, start: 22, end: 36, category: 'collective', words: 'all-reduce.7' },
];
export const runTimes = Array.from({ length: 200 }, (_, i) => 57e6 + ((i * 7919) % 97) * 9e4 + (i % 50 === 0 ? 6e6 : 0));
export const sparkValues = [412, 409, 415, null, 431, 428, 412, 400];
export const hloText = ['HloModule jit_train_step, entry_computation_layout={(f32[8,128]{1,0})->f32[8,128]{1,0}}', '', 'ENTRY %main.12 (x.1: f32[8,128]) -> f32[8,128] {', '  %x.1 = f32[8,128]{1,0} parameter(0)', '  %dot.4 = f32[8,128]{1,0} dot(%x.1, %x.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}', '  ROOT %fusion.3 = f32[8,128]{1,0} fusion(%dot.4), kind=kLoop, calls=%fused', '}'].join('\n');

// ---- a list of the administration ------------------------------------------------------------------------------------
export interface Person {
  readonly name: string;
  readonly role: string;
}
const people: readonly Person[] = [
  { name: 'ada', role: 'administrator' },
  { name: 'grace.with.a.name.that.is.longer.than.its.column@example.org', role: 'viewer' },
];
const pages = (changes: Partial<Pages<Person>>): Pages<Person> => ({ items: [], hasMore: false, known: true, loading: false, error: null, more: nothing, reload: nothing, ...changes });
export const listStates = ['whole', 'loading', 'partial', 'empty', 'error', 'stale', 'refused'] as const;
export type ListState = (typeof listStates)[number];
export const lists: Readonly<Record<ListState, Pages<Person>>> = {
  whole: pages({ items: people }),
  loading: pages({ known: false, loading: true }),
  partial: pages({ items: people, hasMore: true }),
  empty: pages({}),
  error: pages({ known: false, error: fault }),
  stale: pages({ items: people, error: fault }),
  refused: pages({ known: false, error: new ApiError(403, { code: 'PERMISSION_DENIED', name: 'ADMIN_NEEDED', message: 'It needs the role of an administrator.', hint: 'Ask ada for it.' }) }),
};
