// What a tool without a page of its own shows: its tables one at a time, its document as facts and tables, its text.
import { useMemo } from 'react';
import { pushKeys, useUrlKey } from '../state/url';
import { TextView } from '../ui/TextView';
import { exportUrl } from './client';
import { viewDocument } from './documents';
import { FactList, propertyFacts } from './Facts';
import { ToolTableView } from './ToolTableView';
import { DataTable } from './DataTable';
import type { ToolBodyProps } from './ToolPage';
import type { ToolAnswer, ToolTable } from './types';
import { plainWords } from './Notices';

export function GenericBody(props: Omit<ToolBodyProps, 'answer'> & { answer: ToolAnswer }) {
  const { answer, tool, query, sessionId } = props;
  const document = useMemo(() => (answer.document === null ? null : viewDocument(answer.document)), [answer.document]);
  const tables = answer.tables.filter((table) => table.columns.length > 0);
  if (tables.length === 0 && document === null && answer.text === null) return <Nothing applies={tool.applies} />;
  return (
    <>
      {tables.length > 0 && <Tables tables={tables} tool={tool.id} query={query} remote />}
      {document && (
        <>
          <div className="panel doc-facts">
            <header>
              <h2>Summary</h2>
              <span className="aside">
                <a href={exportUrl(sessionId, tool.id, query, 'json', [])} target="_blank" rel="noreferrer">
                  JSON
                </a>
              </span>
            </header>
            {document.facts.length > 0 ? <FactList facts={document.facts} most={60} /> : <p className="panel-note">{document.tables.length > 0 ? 'The answer is in the tables below.' : 'The answer is empty: the tool found nothing in this session.'}</p>}
          </div>
          {document.tables.length > 0 && <Tables tables={document.tables} tool={tool.id} query={query} />}
        </>
      )}
      {answer.text !== null && answer.text !== '' && <TextView text={answer.text} title={tool.title} />}
    </>
  );
}

function Nothing({ applies }: { applies: boolean }) {
  if (!applies) return null;
  return <p className="muted">The tool found nothing in this session.</p>;
}

function Tables({ tables, tool, query, remote = false }: { tables: readonly ToolTable[]; tool: string; query: ToolBodyProps['query']; remote?: boolean }) {
  const wanted = useUrlKey('t');
  const current = tables.find((table) => table.id === wanted) ?? [...tables].sort((a, b) => b.rows.length - a.rows.length || b.columns.length - a.columns.length)[0]!; // The one with most to say.
  const facts = propertyFacts(current.properties).map(([name, value, unit]) => [name, typeof value === 'string' ? plainWords(value) : value, unit] as const);
  return (
    <>
      {tables.length > 1 && (
        <nav className="tool-tabs" aria-label="Tables of this tool">
          {tables.map((table) => (
            <button key={table.id} type="button" aria-pressed={table === current} onClick={() => pushKeys({ t: table.id, sort: null, f: null, q: null, cols: null, row: null, op: null })}>
              {table.title} <span className="muted">{table.totalRows}</span>
            </button>
          ))}
        </nav>
      )}
      {facts.length > 0 && (
        <div className="panel doc-facts">
          <FactList facts={facts} most={40} />
        </div>
      )}
      {remote ? <ToolTableView key={current.id} tool={tool} query={query} table={current} /> : <DataTable key={current.id} table={current} />}
    </>
  );
}
