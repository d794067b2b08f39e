// What the console reads of the ML Diagnostics API (docs/api/v1.md, "Runs"). Every field that is unset is left out.

export type RunState = 'STATE_ACTIVE' | 'STATE_COMPLETED' | 'STATE_FAILED';

export interface RunConfigs {
  readonly softwareConfigs?: Readonly<Record<string, string>>;
  readonly hardwareConfigs?: Readonly<Record<string, string>>;
  readonly userConfigs?: Readonly<Record<string, string>>;
}

export interface Run {
  readonly name: string; // projects/P/locations/L/machineLearningRuns/R
  readonly displayName?: string;
  readonly runSet?: string;
  readonly state: RunState;
  readonly runPhase?: string;
  readonly orchestrator?: string;
  readonly errorDetails?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly configs?: RunConfigs;
  readonly metrics?: Readonly<Record<string, string | number>>;
  readonly artifacts?: { readonly gcsPath?: string };
  readonly storageScan?: { readonly scanTime: string; readonly error?: string };
  readonly etag: string;
  readonly createTime: string;
  readonly updateTime: string;
  readonly endTime?: string;
}

export interface RunSession {
  readonly name: string;
  readonly kind?: string;
  readonly state: string;
  readonly createTime: string;
  readonly startTime?: string;
  readonly dashboardUri?: string;
  readonly storageFolderUri?: string;
  readonly hosts?: readonly string[];
  readonly sizeBytes?: string;
  readonly completeness?: string;
  readonly targetSessions?: Readonly<Record<string, { readonly sessionPhase?: string }>>;
}

export interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly hosts: readonly string[];
  readonly host_count: number;
  readonly point_count: number;
  readonly kept_count: number;
  readonly first_step: number | null;
  readonly last_step: number | null;
  readonly first_unix_ms: number | null;
  readonly last_unix_ms: number | null;
  readonly last: number | null;
  readonly min: number | null;
  readonly mean: number | null;
  readonly max: number | null;
  readonly not_finite_count: number;
}

export interface RunMetricList {
  readonly run: string;
  readonly start_unix_ms: number | null;
  readonly end_unix_ms: number | null;
  readonly metrics: readonly Metric[];
  readonly metric_count: number;
  readonly truncated: boolean;
}

export interface MetricSeries {
  readonly run: string;
  readonly name: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly host: string | null;
  readonly host_count: number;
  readonly point_count: number;
  readonly bucket_width: number | null; // Null: every x has a point of its own.
  readonly x: readonly number[];
  readonly min: readonly (number | null)[];
  readonly mean: readonly (number | null)[];
  readonly max: readonly (number | null)[];
  readonly count: readonly number[];
}

export interface RunSeries {
  readonly by: 'step' | 'time';
  readonly truncated: boolean;
  readonly without_steps: readonly string[];
  readonly absent: readonly string[];
  readonly runs: readonly { readonly run: string; readonly display_name: string; readonly start_unix_ms: number | null; readonly end_unix_ms: number | null }[];
  readonly series: readonly MetricSeries[];
}

export interface RunTarget {
  readonly name: string;
  readonly hostname: string;
  readonly nodeIndex?: number;
  readonly isMaster?: boolean;
}

export interface RunEvent {
  readonly name: string;
  readonly displayName?: string;
  readonly type?: string;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly profilerSession?: string;
  readonly analyzerInsightFound?: boolean;
  readonly analyzerReports?: readonly { readonly analyzer?: string; readonly detectionState?: string; readonly details?: string }[];
}

export interface RunOperation {
  readonly name: string;
  readonly done?: boolean;
  readonly metadata?: {
    readonly verb?: string;
    readonly target?: string;
    readonly createTime?: string;
    readonly endTime?: string;
    readonly progress?: { readonly stage?: string };
  };
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string | null;
}
