// The answers of /api/v1/me, /api/v1/links and /api/v1/access (docs/api/v1.md, "Access"). Times are RFC 3339 or null.

export type Right = 'view' | 'edit' | 'capture' | 'analysis.read' | 'admin';

export interface Rights {
  readonly everywhere: readonly Right[];
  readonly projects: Readonly<Record<string, readonly Right[]>>;
}

export interface HeldLink {
  readonly id: string;
  readonly sessions: readonly string[];
  readonly owner: string;
  readonly expire_time: string | null;
}

export interface Me {
  readonly kind: 'local' | 'user' | 'service' | 'link';
  readonly subject: string | null;
  readonly display_name?: string;
  readonly rights?: Rights;
  readonly links?: readonly HeldLink[];
  readonly csrf_token: string | null;
}

export interface SignInWays {
  readonly needed: boolean;
  readonly password: boolean;
  readonly provider: string | null;
  readonly contact: string | null;
  readonly signed_in_as: string | null;
}

export interface User {
  readonly name: string;
  readonly display_name: string;
  readonly email: string;
  readonly disabled: boolean;
  readonly has_password: boolean;
  readonly has_provider: boolean;
  readonly create_time: string | null;
  readonly last_sign_in_time: string | null;
}

export interface OneTimeCode {
  readonly one_time_code: string;
  readonly expire_time: string | null;
}

export interface Group {
  readonly name: string;
  readonly display_name: string;
  readonly members: readonly string[];
  readonly create_time: string | null;
}

export interface RoleBinding {
  readonly id: string;
  readonly project: string;
  readonly subject: string;
  readonly role: string;
  readonly created_by: string;
  readonly create_time: string | null;
}

export interface ServiceAccount {
  readonly name: string;
  readonly display_name: string;
  readonly created_by: string;
  readonly disabled: boolean;
  readonly create_time: string | null;
}

export interface ServiceKey {
  readonly id: string;
  readonly service_account: string;
  readonly create_time: string | null;
  readonly expire_time: string | null;
  readonly revoke_time: string | null;
}

export interface Token {
  readonly id: string;
  readonly kind: 'API' | 'ACCESS' | 'ONE_TIME';
  readonly subject: string;
  readonly name: string;
  readonly rights: string;
  readonly project: string;
  readonly created_by: string;
  readonly create_time: string | null;
  readonly expire_time: string | null;
  readonly revoke_time: string | null;
  readonly last_used_time: string | null;
}

export type Audience = 'SIGNED_IN' | 'ANYONE';

export interface ShareLink {
  readonly id: string;
  readonly project: string;
  readonly kind: 'SESSION' | 'RUN' | 'VIEW';
  readonly target: string;
  readonly view: string;
  readonly audience: Audience;
  readonly created_by: string;
  readonly create_time: string | null;
  readonly expire_time: string | null;
  readonly revoke_time: string | null;
  readonly path: string;
}

export interface AuditRecord {
  readonly number: string;
  readonly time: string | null;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly project: string;
  readonly outcome: 'DONE' | 'DENIED' | 'FAILED';
  readonly http_status: number;
  readonly peer: string;
  readonly request_id: string;
  readonly detail: string;
  readonly hash: string;
}

export interface AuditVerdict {
  readonly whole: boolean;
  readonly fault: string | null;
  readonly records: number;
  readonly head: string;
}
