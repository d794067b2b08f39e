// Calls of the access routes. Lists come in pages; changes carry the token of the page (api/client.ts).
import { apiUrl, type CallOptions, changeJson, getJson, request, readJson } from '../api/client';
import type { PageOf } from '../ui/pages';
import type { Audience, AuditRecord, AuditVerdict, Group, Me, OneTimeCode, RoleBinding, ServiceAccount, ServiceKey, ShareLink, SignInWays, Token, User } from './types';

export interface ListAsked {
  readonly filter?: string;
  readonly order_by?: string;
  readonly page_size?: number;
  readonly page_token?: string;
  readonly project?: string;
  readonly subject?: string;
}

const encode = encodeURIComponent;

function queryOf(asked: ListAsked): string {
  const parts = Object.entries(asked)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encode(String(value))}`);
  return parts.length ? '?' + parts.join('&') : '';
}

async function list<T>(path: string, field: string, asked: ListAsked, options: CallOptions = {}): Promise<PageOf<T>> {
  const answer = await getJson<Record<string, unknown>>(path + queryOf(asked), options);
  return { items: (answer[field] as T[] | undefined) ?? [], next: (answer.next_page_token as string | undefined) || null };
}

const post = <T>(path: string, body: unknown = {}) => changeJson<T>('POST', apiUrl(path), body);
const remove = (path: string) => changeJson<unknown>('DELETE', apiUrl(path), undefined);

export interface NewToken {
  readonly subject?: string;
  readonly name: string;
  readonly rights?: string;
  readonly project?: string;
  readonly days: number;
}

export interface NewLink {
  readonly session?: string;
  readonly run?: string;
  readonly view?: string;
  readonly audience: Audience;
  readonly days: number;
}

const users = '/access/users';
const groups = '/access/groups';
const accounts = '/access/service-accounts';

export const accessApi = {
  me: (options?: CallOptions) => getJson<Me>('/me', options),
  // Answered to everybody, signed in or not.
  ways: async (options: CallOptions = {}) => readJson<SignInWays>(await request('/sign-in', { signal: options.signal, headers: { Accept: 'application/json' } })),
  signOut: (everywhere: boolean) => post<unknown>('/sign-out', everywhere ? { everywhere } : {}),
  changePassword: (password: string, newPassword: string) => post<unknown>('/me/password', { password, new_password: newPassword }),

  users: (asked: ListAsked, options?: CallOptions) => list<User>(users, 'users', asked, options),
  createUser: (body: { name: string; display_name: string; email: string }) => post<OneTimeCode & { user: User }>(users, body),
  deleteUser: (name: string) => remove(`${users}/${encode(name)}`),
  disableUser: (name: string) => post<unknown>(`${users}/${encode(name)}:disable`),
  enableUser: (name: string) => post<unknown>(`${users}/${encode(name)}:enable`),
  resetUser: (name: string) => post<OneTimeCode>(`${users}/${encode(name)}:reset`),
  signOutUser: (name: string) => post<unknown>(`${users}/${encode(name)}:signOut`),

  groups: (asked: ListAsked, options?: CallOptions) => list<Group>(groups, 'groups', asked, options),
  createGroup: (body: { name: string; display_name: string }) => post<unknown>(groups, body),
  deleteGroup: (name: string) => remove(`${groups}/${encode(name)}`),
  addMember: (group: string, subject: string) => post<unknown>(`${groups}/${encode(group)}/members`, { subject }),
  removeMember: (group: string, subject: string) => remove(`${groups}/${encode(group)}/members/${encode(subject)}`),

  roles: (asked: ListAsked, options?: CallOptions) => list<RoleBinding>('/access/roles', 'roles', asked, options),
  giveRole: (body: { project: string; subject: string; role: string }) => post<unknown>('/access/roles', body),
  takeRole: (id: string) => remove(`/access/roles/${encode(id)}`),

  accounts: (asked: ListAsked, options?: CallOptions) => list<ServiceAccount>(accounts, 'service_accounts', asked, options),
  createAccount: (body: { name: string; display_name: string }) => post<unknown>(accounts, body),
  deleteAccount: (name: string) => remove(`${accounts}/${encode(name)}`),
  keys: async (account: string, options?: CallOptions) => (await getJson<{ keys: ServiceKey[] }>(`${accounts}/${encode(account)}/keys`, options)).keys,
  // The answer is the key file itself; nobody can ask for it again.
  createKey: (account: string, body: { days: number; server: string; project?: string }) => post<Record<string, string>>(`${accounts}/${encode(account)}/keys`, body),
  revokeKey: (account: string, key: string) => remove(`${accounts}/${encode(account)}/keys/${encode(key)}`),

  tokens: (asked: ListAsked, options?: CallOptions) => list<Token>('/access/tokens', 'tokens', asked, options),
  createToken: (body: NewToken) => post<Token & { token: string }>('/access/tokens', body),
  revokeToken: (id: string) => remove(`/access/tokens/${encode(id)}`),

  links: (asked: ListAsked, options?: CallOptions) => list<ShareLink>('/links', 'links', asked, options),
  createLink: (body: NewLink) => post<ShareLink>('/links', body),
  revokeLink: (id: string) => remove(`/links/${encode(id)}`),

  audit: (asked: ListAsked, options?: CallOptions) => list<AuditRecord>('/access/audit', 'records', asked, options),
  verifyAudit: (head: string, options?: CallOptions) => getJson<AuditVerdict>('/access/audit:verify' + (head ? `?head=${encode(head)}` : ''), options),
};
