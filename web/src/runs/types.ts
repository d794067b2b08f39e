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
  readonly metadata?: Readonly<Record<string, string | boolean>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string | null;
}
