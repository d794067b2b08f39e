// What was done and refused, newest first, and whether the chain of records is whole.
import { useMemo, useState } from 'react';
import { accessApi } from '../access/client';
import { containsFilter, joinFilters, quoted } from '../access/rights';
import type { AuditRecord, AuditVerdict } from '../access/types';
import { formatClock, plural } from '../format/format';
import { timeOf, wordsOf } from '../runs/runs';
import { pushKeys, useUrlKey } from '../state/url';
import { useChange } from '../ui/forms';
import { Icon } from '../ui/Icon';
import { usePages } from '../ui/pages';
import { ErrorNotice, Field, Select } from '../ui/states';
import { copyText } from '../ui/toasts';
import { AccessHead, AccessTable } from './AccessTable';

const outcomes = [
  { value: '', label: 'Every outcome' },
  { value: 'DONE', label: 'Done' },
  { value: 'DENIED', label: 'Denied' },
  { value: 'FAILED', label: 'Failed' },
];
const spans = [
  { value: '', label: 'All time' },
  { value: '1', label: 'Last day' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
];
const dayMs = 86_400_000;

function sinceFilter(days: string, nowMs: number): string {
  const count = Number(days);
  return count > 0 ? `create_time > ${quoted(new Date(nowMs - count * dayMs).toISOString())}` : '';
}

export function AuditPart() {
  const q = useUrlKey('q') ?? '';
  const outcome = useUrlKey('outcome') ?? '';
  const days = useUrlKey('days') ?? '';
  const since = useMemo(() => sinceFilter(days, Date.now()), [days]);
  const filter = joinFilters(outcome && `outcome = ${quoted(outcome)}`, since, containsFilter(q, ['actor', 'action', 'object', 'project', 'peer']));
  const list = usePages<AuditRecord>(`audit/${filter}`, (page, signal) => accessApi.audit({ filter, order_by: 'name desc', page_token: page }, { signal }), (record) => record.number, { everyMs: 5000 });
  return (
    <>
      <AccessHead title="Audit" about="Every change, capture, sign-in, use of a link and denial. Each record carries the hash of the one before, so that none can be edited, removed, put in or moved unnoticed." count={list.known ? list.items.length : null} more={list.hasMore} find="Who, what, where from">
        <Select label="Outcome" value={outcome} choices={outcomes} onChange={(value) => pushKeys({ outcome: value || null })} />
        <Select label="Time" value={days} choices={spans} onChange={(value) => pushKeys({ days: value || null })} />
      </AccessHead>
      <Verify />
      <AccessTable
        label="Audit"
        list={list}
        keyOf={(record) => record.number}
        empty={filter ? 'No record fits the filters.' : 'No record yet.'}
        columns={[
          { label: 'When', width: 150, cell: (record) => <span className="tabular">{formatClock(timeOf(record.time ?? undefined))}</span>, title: (record) => `record ${Number(record.number)}, request ${record.request_id}, hash ${record.hash}` },
          { label: 'Who', width: 140, cell: (record) => <span className="mono">{record.actor}</span>, title: (record) => record.actor },
          { label: 'What', width: 140, cell: (record) => actionWords(record.action), title: (record) => record.action },
          { label: 'Object', cell: (record) => <span className="mono">{record.object}</span>, title: (record) => record.object },
          { label: 'Project', width: 90, cell: (record) => record.project, title: (record) => record.project },
          { label: 'Outcome', width: 110, cell: (record) => <Outcome record={record} />, title: (record) => `${record.http_status} ${record.detail}` },
          { label: 'From', width: 110, cell: (record) => <span className="mono">{record.peer}</span>, title: (record) => record.peer },
        ]}
      />
    </>
  );
}

// "createUser" -> "Create user"
export function actionWords(action: string): string {
  return wordsOf(action.replace(/^ml(?=[A-Z])/, '').replace(/([a-z])([A-Z])/g, '$1_$2'));
}

function Outcome({ record }: { record: AuditRecord }) {
  const tone = record.outcome === 'DONE' ? 'complete' : record.outcome === 'DENIED' ? 'partial' : 'damaged';
  return (
    <span className={`chip ${tone}`}>
      <Icon name={tone} />
      {wordsOf(record.outcome)}
    </span>
  );
}

function Verify() {
  const [head, setHead] = useState('');
  const [verdict, setVerdict] = useState<{ answer: AuditVerdict; head: string } | null>(null);
  const { error, busy, send } = useChange<{ answer: AuditVerdict; head: string }>(setVerdict);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    const asked = head.trim();
    setVerdict(null);
    send(async () => ({ answer: await accessApi.verifyAudit(asked), head: asked }));
  };
  const answer = verdict?.answer;
  return (
    <form className="panel verify" onSubmit={submit}>
      <Field label="A hash that you kept elsewhere" hint="Optional. Without it a chain that was written anew as a whole cannot be told from the true one.">
        <input className="input mono" value={head} onChange={(event) => setHead(event.target.value)} spellCheck={false} maxLength={128} />
      </Field>
      <button type="submit" className="button" disabled={busy}>
        {busy ? 'Going through the chain…' : 'Verify the chain'}
      </button>
      <div className="verify-answer" role="status">
        {answer?.whole && (
          <>
            <p className="chip complete">
              <Icon name="complete" />
              <strong>The chain is whole:</strong> {plural(answer.records, 'record')}{verdict!.head ? ', and the kept hash is one of them' : ''}.
            </p>
            <p className="text2 verify-head">
              Keep this hash elsewhere: <code>{answer.head}</code>
              <button type="button" className="button plain square small" aria-label="Copy the hash" title="Copy the hash" onClick={() => void copyText(answer.head, 'Hash')}>
                <Icon name="copy" />
              </button>
            </p>
          </>
        )}
        {answer && !answer.whole && (
          <p className="crit">
            <strong>The chain is broken.</strong> {answer.fault} Look into the copy of the log, and into who can write the database.
          </p>
        )}
        {error && <ErrorNotice what="The chain was not verified." error={error} />}
      </div>
    </form>
  );
}
