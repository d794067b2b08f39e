// The tool routes of the mock: options, paging, sort, filter, CSV, events of a row, comparison.
import { answerOf, modulesOf, plain, registry, sessionTools } from './mock-tools.mjs';

const reserved = new Set(['hosts', 'table', 'columns', 'sort', 'filter', 'q', 'offset', 'limit', 'format', 'as_xprof', 'order', 'keys', 'sessions', 'tool']);

function optionsOf(query) {
  const options = {};
  for (const [name, value] of query) {
    if (name.startsWith('option.')) options[name.slice(7)] = value;
    else if (!reserved.has(name)) options[name] = value;
  }
  return options;
}

function passes(cell, how, wanted) {
  const value = plain(cell);
  if (how === 'contains') return String(value ?? '').toLowerCase().includes(wanted.toLowerCase());
  if (how === 'eq') return String(value ?? '').toLowerCase() === wanted.toLowerCase();
  if (how === 'ne') return String(value ?? '').toLowerCase() !== wanted.toLowerCase();
  return { lt: value < wanted, le: value <= Number(wanted), gt: value > Number(wanted), ge: value >= Number(wanted) }[how];
}

function cut(table, query) {
  let order = table.rows.map((_, i) => i);
  for (const filter of query.getAll('filter')) {
    const [column, how, ...value] = filter.split(':');
    const at = table.columns.findIndex((one) => one.id === column);
    if (at >= 0) order = order.filter((i) => passes(table.rows[i][at], how, value.join(':')));
  }
  const q = query.get('q')?.toLowerCase();
  if (q) order = order.filter((i) => table.rows[i].some((cell) => typeof cell === 'string' && cell.toLowerCase().includes(q)));
  const sort = query.get('sort');
  if (sort) {
    const at = table.columns.findIndex((one) => one.id === sort.replace(/^-/, ''));
    const sign = sort.startsWith('-') ? -1 : 1;
    if (at >= 0) order = [...order].sort((a, b) => sign * (plain(table.rows[a][at]) < plain(table.rows[b][at]) ? -1 : 1));
  }
  const file = ['csv', 'jsonl'].includes(query.get('format'));
  const offset = Number(query.get('offset') ?? 0);
  const limit = file ? order.length : Math.min(10_000, Number(query.get('limit') ?? 1000));
  const some = order.slice(offset, offset + limit);
  const wanted = query.get('columns')?.split(',');
  const columns = wanted ? wanted.map((id) => table.columns.findIndex((one) => one.id === id)).filter((at) => at >= 0) : table.columns.map((_, i) => i);
  return { ...table, columns: columns.map((at) => table.columns[at]), total_row_count: table.rows.length, row_count: order.length, offset, limit, rows: some.map((i) => columns.map((at) => table.rows[i][at])), row_ids: some, subjects: some.map((i) => table.subjects[i]) };
}

const quoted = (value) => (value === null || value === undefined ? '' : /[",\n]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value));

export function toolAnswer(context, session, parts, query) {
  const { Fault, sendJson, response, request } = context;
  if (parts.length === 0) return sendJson(request, response, sessionTools(session));
  const tool = registry.find((one) => one.id === parts[0] || one.aliases.includes(parts[0]));
  if (!tool) throw new Fault(404, 'NOT_FOUND', 'TOOL_UNKNOWN', `There is no tool "${parts[0]}".`, 'Open /api/v1/tools for the tools there are.');
  const options = optionsOf(query);
  const unknown = Object.keys(options).find((name) => !tool.options.some((one) => one.name === name));
  if (unknown) throw new Fault(400, 'INVALID_ARGUMENT', 'OPTION_UNKNOWN', `"${unknown}" is no option of ${tool.id}.`, `Options: ${tool.options.map((one) => one.name).join(', ') || 'none'}.`);
  const answer = answerOf(session, tool.id, options);
  if (!answer) throw new Fault(404, 'NOT_FOUND', 'MODULE_UNKNOWN', `The session has no module "${options.module_name ?? options.program_id ?? ''}".`, 'See /module_list.');
  const tables = (answer.tables ?? []).filter((one) => !query.get('table') || one.id === query.get('table'));
  if (parts[1] === 'rows') return rowEvents(context, session, tables[0] ?? answer.tables?.[0], Number(parts[2]), query);
  const format = query.get('format') ?? 'json';
  if (format === 'raw') return response.writeHead(200, { 'Content-Type': answer.text_type ?? 'application/json' }).end(answer.text ?? JSON.stringify(answer.document));
  if (format === 'csv') {
    const one = cut(tables[0], query);
    return response.writeHead(200, { 'Content-Type': 'text/csv' }).end([one.columns.map((column) => quoted(column.label)).join(','), ...one.rows.map((row) => row.map((cell) => quoted(plain(cell))).join(','))].join('\r\n'));
  }
  if (format === 'jsonl') {
    const one = cut(tables[0], query);
    return response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).end(one.rows.map((row) => JSON.stringify(Object.fromEntries(one.columns.map((column, i) => [column.id, plain(row[i])])))).join('\n'));
  }
  return sendJson(request, response, {
    tool: tool.id, title: tool.title, tool_version: 1, session: session.id, version: '9f31c2d0a7e4b65d', hosts: session.hosts, options, partial: session.state === 'partial',
    notices: [...(answer.notices ?? []), ...(session.state === 'partial' ? [{ severity: 'warning', name: 'HOST_PARTIAL', message: 'host1 was cut off: what follows misses its last part.', hint: 'See Files for what was lost.' }] : [])],
    tables: tables.map((one) => cut(one, query)), document: answer.document ?? null, text: answer.text ?? null, text_type: answer.text_type ?? null, text_bytes: answer.text?.length ?? 0, trace: false,
  });
}

function rowEvents({ sendJson, request, response, sessions }, session, table, row, query) {
  const subject = table?.subjects[row];
  if (!subject?.op_name) return sendJson(request, response, { tool: '', table: table?.id, row, subject: null, total: 0, total_duration_ps: 0, truncated: false, reason: 'The row names no op, so it has no events.', events: [] });
  const limit = Number(query.get('limit') ?? 1000);
  const profile = sessions.profile(session);
  const events = [];
  profile.hosts.forEach((host, h) => host.planes.forEach((plane, p) => plane.kind === 'device' && plane.lines.forEach((line, l) => {
    if (line.kind !== 'ops') return;
    for (let e = 0; e < line.count; e++) if (profile.names.text[line.nameIndex[e]] === subject.op_name) events.push({ event: `${h}.${p}.${l}.${e}`, name: subject.op_name, start_ps: line.start[e], duration_ps: line.duration[e], line: `${h}.${p}.${l}` });
  })));
  if (query.get('order') === 'duration') events.sort((a, b) => b.duration_ps - a.duration_ps);
  sendJson(request, response, { table: table.id, row, subject, total: events.length, total_duration_ps: events.reduce((sum, one) => sum + one.duration_ps, 0), truncated: events.length > limit, reason: events.length === 0 ? 'No event of this op was found.' : null, events: events.slice(0, limit) });
}

export function compareAnswer({ Fault, sendJson, request, response, sessions }, query) {
  const chosen = (query.get('sessions') ?? '').split(',').map((id) => sessions.find(id) ?? (() => { throw new Fault(404, 'NOT_FOUND', 'SESSION_UNKNOWN', `No session has the id "${id}".`); })());
  const tables = chosen.map((session) => (answerOf(session, query.get('tool'), optionsOf(query))?.tables ?? []).find((one) => one.id === query.get('table')));
  const shape = tables.find(Boolean);
  if (!shape) throw new Fault(400, 'INVALID_ARGUMENT', 'NOT_COMPARABLE', 'This tool answers without tables.');
  const keyNames = ['category', 'hlo_op_name', 'program_id', 'operation', 'kernel_name', 'opName', 'counter', 'step', 'stepnum', 'include_infeed_outfeed'].filter((id) => shape.columns.some((one) => one.id === id));
  const keyAt = keyNames.map((id) => shape.columns.findIndex((one) => one.id === id));
  const numbers = shape.columns.map((column, at) => ({ column, at })).filter(({ column }) => column.type === 'number');
  const found = new Map();
  tables.forEach((table, s) => table?.rows.forEach((row, i) => {
    const key = keyAt.map((at) => plain(row[at]));
    const text = JSON.stringify(key);
    if (!found.has(text)) found.set(text, { key, rows: chosen.map(() => null), row_ids: chosen.map(() => null) });
    found.get(text).rows[s] = row;
    found.get(text).row_ids[s] = i;
  }));
  const all = [...found.values()].map(({ key, rows, row_ids }) => {
    const values = numbers.map(({ at }) => rows.map((row) => (row ? plain(row[at]) : null)));
    const absolute = values.map((list) => list.map((value, s) => (s === 0 || value === null || list[0] === null ? null : value - list[0])));
    return { key, row_ids, values, absolute, relative: values.map((list, c) => list.map((_, s) => (absolute[c][s] === null || list[0] === 0 ? null : absolute[c][s] / list[0]))) };
  });
  const offset = Number(query.get('offset') ?? 0);
  const limit = Number(query.get('limit') ?? 1000);
  sendJson(request, response, { tool: query.get('tool'), table: { id: shape.id, title: shape.title }, keys: keyNames, sessions: chosen.map((one) => ({ session: one.id, run: one.run, name: one.name, version: '9f31c2d0a7e4b65d', hosts: one.hosts, partial: false, notices: [] })), key_columns: keyAt.map((at) => shape.columns[at]), columns: numbers.map(({ column }) => column), total_row_count: all.length, row_count: all.length, offset, limit, rows: all.slice(offset, offset + limit) });
}

export const toolList = () => ({ tools: registry });
export const moduleList = (session) => (session ? modulesOf(session).join(',') : '');
