// Tokens: of everybody for administrators, of oneself on the account page.
import { useDeferredValue, useState } from 'react';
import { accessApi } from '../access/client';
import { useMe } from '../access/me';
import { containsFilter, joinFilters, quoted, shortName } from '../access/rights';
import type { Token } from '../access/types';
import { pushKeys, useUrlKey } from '../state/url';
import { ConfirmDialog } from '../ui/ConfirmDialog';
import { usePages } from '../ui/pages';
import { Select } from '../ui/states';
import { showToast } from '../ui/toasts';
import { AccessHead, AccessTable, ended, When } from './AccessTable';
import { CreateTokenDialog, NewTokenDialog, type NewTokenMade } from './TokenDialogs';

const kinds = [
  { value: '', label: 'Tokens' },
  { value: 'ACCESS', label: 'Made from key files' },
  { value: 'ONE_TIME', label: 'One-time codes' },
];

export function TokensPart({ own = false }: { own?: boolean }) {
  const me = useMe();
  const q = useDeferredValue(useUrlKey('q') ?? '');
  const kind = useUrlKey('kind') || 'API';
  const filter = joinFilters(`kind = ${quoted(kind)}`, containsFilter(own ? '' : q, ['subject', 'display_name', 'project']));
  const subject = own ? (me?.subject ?? '') : '';
  const list = usePages<Token>(`tokens/${subject}/${filter}`, (page, signal) => accessApi.tokens({ subject, filter, order_by: 'create_time desc', page_token: page }, { signal }), (token) => token.id, { everyMs: 5000 });
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<NewTokenMade | null>(null);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const now = Date.now();
  return (
    <>
      <AccessHead
        title={own ? 'Your tokens' : 'Tokens'}
        about={own ? 'For programs that act as you: the command line, scripts, notebooks. A token narrower than you are is the safer one.' : 'Of all accounts. Nobody can read a token again, but every one can be taken back. Tokens of people are made by themselves, under Account.'}
        count={list.known ? list.items.length : null}
        more={list.hasMore}
        find={own ? undefined : 'Account, purpose or project'}
      >
        {!own && <Select label="Kind" value={kind === 'API' ? '' : kind} choices={kinds} onChange={(value) => pushKeys({ kind: value || null })} />}
        {own && (
          <button type="button" className="button primary" onClick={() => setCreating(true)}>
            Make a token
          </button>
        )}
      </AccessHead>
      <AccessTable
        label={own ? 'Your tokens' : 'Tokens'}
        list={list}
        keyOf={(token) => token.id}
        dimmed={(token) => ended(token, now) !== null}
        empty={q && !own ? `No token has ${q} in it.` : own ? 'You have no token. The console needs none; make one for the first program that is to act as you.' : 'There is none.'}
        columns={[
          { label: 'For', cell: (token) => <strong className="name">{token.name || token.id}</strong>, title: (token) => `${token.name} ${token.id}` },
          ...(own ? [] : [{ label: 'Acts as', cell: (token: Token) => <span className="mono">{token.subject}</span>, title: (token: Token) => token.subject }]),
          { label: 'Reach', cell: (token) => `${token.rights ? token.rights.replaceAll(',', ', ') : 'all of the account'}${token.project ? ` in ${token.project}` : ''}` },
          ...(own ? [] : [{ label: 'Made by', width: 120, cell: (token: Token) => shortName(token.created_by) }]),
          { label: 'Made', width: 100, cell: (token) => <When time={token.create_time} /> },
          { label: 'Last used', width: 100, cell: (token) => <When time={token.last_used_time} /> },
          { label: 'Ends', width: 110, cell: (token) => (ended(token, now) === 'revoked' ? 'taken back' : ended(token, now) === 'expired' ? 'over' : <When time={token.expire_time} never="no end" />) },
          {
            label: '',
            width: 110,
            number: true,
            cell: (token) =>
              ended(token, now) === null && (
                <button type="button" className="button small danger" onClick={() => setRevoking(token)}>
                  Take back
                </button>
              ),
          },
        ]}
      />
      {creating && (
        <CreateTokenDialog
          onClose={() => setCreating(false)}
          onMade={(token) => {
            setCreating(false);
            setMade(token);
            list.reload();
          }}
        />
      )}
      {made && <NewTokenDialog made={made} onClose={() => setMade(null)} />}
      {revoking && (
        <ConfirmDialog
          title={`Take back ${revoking.name || revoking.id}?`}
          verb="Take back"
          failed="The token was not taken back."
          goes={`what the token opens, at once and for good. Programs that use it are refused.`}
          stays={`the account ${revoking.subject} and its other tokens. The list keeps the token for a while, as taken back.`}
          change={() => accessApi.revokeToken(revoking.id)}
          onClose={() => setRevoking(null)}
          onDone={() => {
            showToast({ tone: 'good', icon: 'check', text: `The token ${revoking.name || revoking.id} was taken back.` });
            list.reload();
          }}
        />
      )}
    </>
  );
}
