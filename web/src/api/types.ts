// The answers of docs/api/v1.md. Times are picoseconds relative to the session's origin; null means "not known".

export interface ApiErrorBody {
  code: string;
  name: string;
  message: string;
  where?: string | null;
  hint?: string | null;
  request_id?: string | null;
}

export type SessionState = 'complete' | 'partial' | 'damaged' | 'empty' | 'writing' | 'unread';

export interface SessionSummary {
  id: string;
  run: string;
  name: string;
  hosts: string[];
  host_count: number;
  size_bytes: number;
  modified_unix_ms: number;
  state: SessionState;
  state_reason: string | null;
  root: string;
  path: string;
  project?: string; // Whose it is; older servers do not say.
}

export interface SessionList {
  sessions: SessionSummary[];
  total: number;
  next_page_token?: string;
}

export interface TimeWindow {
  start_ps: number;
  end_ps: number;
}

export interface SessionFile {
  host: string;
  file: string;
  format: string;
  size_bytes: number;
  state: SessionState;
  state_reason: string | null;
}

export type LoadStage = 'unpacking' | 'indexing' | 'decoding' | 'ready' | 'failed';

export interface SessionDetail extends SessionSummary {
  version: string;
  origin_unix_ns: string | null;
  window: TimeWindow | null;
  files: SessionFile[];
  load: { stage: LoadStage; done_bytes: number; total_bytes: number };
}

/** How far an opening that runs now has come, in bytes of compressed files. */
export interface Opening {
  stage: 'unpacking' | 'indexing' | null;
  done_bytes: number;
  total_bytes: number;
}

export interface Damage {
  name: string;
  message: string;
  offset_bytes: number | null;
  plane: string | null;
  line: string | null;
}

export interface HostCompleteness {
  host: string;
  file: string;
  size_bytes: number;
  readable_bytes: number;
  content_hash: string | null;
  state: SessionState;
  window: (TimeWindow & { source: string }) | null;
  clock_offset_ps: number | null;
  events: number | null;
  lines: number | null;
  planes: number | null;
  empty_planes: string[];
  events_out_of_order: number | null;
  events_beyond_window: number | null;
  events_overlapping: number | null;
  events_negative: number | null;
  events_saturated?: number | null; // Times beyond 2^63 ps.
  events_aggregated?: number | null; // Stand for several runs each.
  missing_metadata: number | null;
  errors: string[];
  warnings: string[];
  damage: Damage[];
}

export interface Completeness {
  state: SessionState;
  reasons: string[];
  hosts_expected: number | null;
  hosts_expected_reason: string | null;
  hosts_received: number;
  hosts: HostCompleteness[];
}

export interface OverviewDevice {
  host: string;
  plane: string;
  kind: string;
  name: string | null;
  busy_ps: number | null;
  busy_share: number | null;
}

export interface StepItem {
  name: string;
  start_ps: number;
  duration_ps: number;
  line: string;
  event?: string;
}

export interface Steps {
  source: string;
  count: number;
  mean_ps: number | null;
  min_ps: number | null;
  max_ps: number | null;
  items: StepItem[];
}

export interface TopOp {
  name: string;
  category: string | null;
  count: number;
  total_ps: number;
  self_ps: number | null;
  share: number | null;
  source: string | null;
  event: string | null;
}

export interface Overview {
  duration_ps: number | null;
  window: TimeWindow | null;
  hosts: { host: string; device_count: number | null }[];
  devices: OverviewDevice[];
  event_count: number | null;
  steps: Steps | null;
  steps_reason: string | null;
  top_ops: TopOp[];
  top_ops_by: 'device' | 'host' | null;
  top_ops_total_ps: number | null;
  top_ops_reason: string | null;
}

export type PlaneKind = 'device' | 'host' | 'metadata' | 'other';
export type LineKind = 'steps' | 'modules' | 'ops' | 'async' | 'scope' | 'source' | 'stream' | 'thread' | 'counter' | 'other';

export interface TimelineLine {
  id: string;
  name: string;
  display_name: string;
  thread_id: string;
  kind: LineKind;
  derived: boolean;
  row_count: number | null;
  event_count: number | null;
  start_ps: number | null;
  end_ps: number | null;
  chunk: number;
}

export interface TimelinePlane {
  id: string;
  name: string;
  kind: PlaneKind;
  chunks: number;
  event_count: number | null;
  lines: TimelineLine[];
}

export interface TimelineHost {
  id: string;
  host: string;
  planes: TimelinePlane[];
}

export interface TimelineLines {
  version: string;
  complete: boolean;
  window: TimeWindow;
  hosts: TimelineHost[];
}

export type StatType = 'int64' | 'uint64' | 'double' | 'string' | 'bytes' | 'ref';

export interface EventStat {
  name: string;
  value: number | string | { size_bytes: number; hex?: string } | null;
  type: StatType;
  unit: string | null;
  origin: 'event' | 'metadata';
  truncated?: boolean;
}

export interface EventDetail {
  id: string;
  name: string;
  full_name: string;
  host: string;
  plane: string;
  line: string;
  start_ps: number;
  duration_ps: number;
  self_ps: number | null;
  depth: number | null;
  occurrences: number | null;
  parent: string | null;
  offset_bytes: string | null;
  stats: EventStat[];
}

export interface EventNeighbours {
  event: string | null;
  previous: string | null;
  next: string | null;
}

export interface SearchHit {
  event: string;
  name: string;
  start_ps: number;
  duration_ps: number;
  line: string;
}

export interface SearchResult {
  query: string;
  total: number;
  names: number;
  hits: SearchHit[];
  truncated: boolean;
  density: number[];
  near?: SearchNear | null; // where the event or the time that was asked with stands among the hits
}

export interface SearchNear {
  rank: number; // hits that begin before it
  is_hit: boolean;
  previous: SearchHit | null;
  next: SearchHit | null;
}

export interface CounterInfo {
  id: string;
  name: string;
  group: string | null; // null: the counter has one series
  host: string;
  plane: string;
  plane_name: string;
  line: string | null; // null: gathered from the events of many lines
  unit: string | null;
  kind: 'counter' | 'memory';
  samples: number;
  start_ps: number;
  end_ps: number;
  min: number;
  max: number;
}

export interface Counters {
  counters: CounterInfo[];
  truncated?: boolean;
}

export interface CounterSeries {
  id: string;
  from_ps: number;
  to_ps: number;
  bucket_count: number;
  samples: number;
  before: { time_ps: number; value: number } | null;
  min: (number | null)[];
  mean: (number | null)[];
  max: (number | null)[];
  last: (number | null)[];
  count: number[];
}

export interface RulerMark {
  name: string;
  start_ps: number;
  duration_ps: number;
  event: string | null;
}

export interface RulerMarks {
  steps: { source: string; line: string | null; total: number; items: RulerMark[] } | null;
  steps_reason: string | null;
  modules: { plane: string; plane_name: string; line: string; total: number; items: RulerMark[] }[];
}

export interface AreaSum {
  count: number;
  total_ps: number;
  self_ps: number;
}

export interface AreaTotals extends AreaSum {
  from_ps: number;
  to_ps: number;
  side: 'devices' | 'hosts' | null;
  name_count: number;
  names: (AreaSum & { name: string; category: string; longest: string; longest_ps: number })[];
  other_names: AreaSum;
  categories: (AreaSum & { category: string })[];
  line_count: number;
  lines: { line: string; name: string; count: number; busy_ps: number }[];
  planes: { plane: string; name: string; host: string; count: number; busy_ps: number }[];
  lines_left_out: number;
}

export interface AreaGaps {
  from_ps: number;
  to_ps: number;
  plane_name: string;
  count: number;
  total_ps: number;
  gaps: {
    start_ps: number; duration_ps: number; before: string | null; before_name: string | null; after: string | null; after_name: string | null;
    meanwhile: { name: string; thread: string; self_ps: number; count: number; longest: string }[];
  }[];
}

export interface FlowEnd {
  event: string;
  line: string;
  row: number;
  start_ps: number;
  duration_ps: number;
  name: string;
}

export interface Flow {
  from: FlowEnd;
  to: FlowEnd;
}

export interface Flows {
  total: number;
  truncated: boolean;
  flows: Flow[];
}

export type TargetState = 'connecting' | 'recording' | 'collecting' | 'saved' | 'failed' | 'cancelled' | 'empty';

export interface CaptureTarget {
  target: string;
  state: TargetState;
  received_bytes: number;
  message: string | null;
  hint: string | null;
  file: string | null;
}

export interface Operation {
  id: string;
  kind: string;
  done: boolean;
  cancelled: boolean;
  created_unix_ms: number;
  updated_unix_ms: number;
  deadline_unix_ms: number | null;
  progress: { stage: string; done: number; total: number; unit: string } | null;
  targets: CaptureTarget[];
  result: { session: string | null; session_name: string; hosts_saved: number } | null;
  error: ApiErrorBody | null;
}

// An upload that goes on: the next part begins at offset_bytes.
export interface Upload {
  id: string;
  name: string;
  size_bytes: number | string;
  offset_bytes: number | string;
  part_max_bytes: number | string;
  expires_unix_ms: number;
  sha256: string | null;
}

export interface CaptureRequest {
  targets: string[];
  duration_ms: number;
  session?: string;
  run?: string;
  root?: string | null;
  host_tracer_level: number;
  device_tracer_level: number;
  python_tracer_level: number;
  options: Record<string, string | number | boolean>;
}

export interface ServerConfig {
  version: string;
  roots: string[];
  capture_enabled: boolean;
  capture_reason?: string | null;
  capture_roots?: string[]; // Those of `roots` that may be written to.
  capture_default_target: string | null;
  uploads_enabled?: boolean;
  sample: boolean;
}
