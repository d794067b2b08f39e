// Recorded answers of XProf as sessions of the mock, when the corpus is there (../shared/data beside the repository, or
// STROBE_CORPUS): real shapes and real sizes for work on the pages. Read at run time only; nothing of it is kept here.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const corpus = process.env.STROBE_CORPUS ?? fileURLToPath(new URL('../../../shared/data', import.meta.url));
const root = join(corpus, 'xprof_goldens');
const version = existsSync(root) ? (readdirSync(root).filter((name) => /^\d+\.\d+/.test(name)).sort().pop() ?? null) : null;

// Every recorded session as one of the mock's: the invented timeline stands in for its own.
export function goldenSpecs() {
  if (!version) return [];
  return readdirSync(join(root, version), { withFileTypes: true }).filter((one) => one.isDirectory() && !one.name.startsWith('_')).flatMap((run) =>
    readdirSync(join(root, version, run.name), { withFileTypes: true }).filter((one) => one.isDirectory()).map((session) => ({
      run: `xprof/${run.name}`, name: session.name, hosts: ['host0'], devices: 1, kind: /gpu/.test(run.name) ? 'GPU' : /cpu/.test(run.name) ? 'CPU' : 'TPU', device: 'recorded', steps: 4, stepPs: 8e9, state: 'complete', age: 4000,
      golden: join(root, version, run.name, session.name),
    })));
}

const units = [[/\((?:in )?us\)|\(μs\)/, 'us'], [/\((?:in )?ms\)/, 'ms'], [/percentage|\(%\)/i, 'fraction'], [/GiB\/s|GBytes\/Sec/, 'GiB/s'], [/GFLOPs?\/s/i, 'GFLOP/s'], [/FLOPS?\/Byte/i, 'flop/byte'], [/bytes/i, 'bytes'], [/occurrences|rank/i, 'count']];

function tableOf(wire, index) {
  const columns = (wire.cols ?? []).map((column) => ({ id: column.id, label: column.label, type: column.type, unit: units.find(([pattern]) => pattern.test(column.label))?.[1] ?? null, description: '', properties: {} }));
  const at = (id) => columns.findIndex((column) => column.id === id);
  const rows = (wire.rows ?? []).map((row) => row.c.map((cell) => cell?.v ?? null));
  const name = Math.max(at('hlo_op_name'), at('hlo_module_id') >= 0 ? at('operation') : -1);
  const module = Math.max(at('program_id'), at('hlo_module_id'));
  return { id: `table${index}`, title: `Table ${index}`, properties: wire.p ?? {}, columns, rows, subjects: rows.map((row) => (name >= 0 && row[name] ? { hlo_module_id: String(row[module] ?? ''), op_name: String(row[name]), framework_op: null, step: null, host: null } : null)) };
}

function read(path) {
  return gunzipSync(readFileSync(path)).toString();
}

// The recorded file of a question: options that were recorded with it must be the ones asked for.
export function goldenAnswer(session, tool, options) {
  const files = readdirSync(session.golden);
  if (tool === 'graph_viewer') {
    const module = moduleNames(session).find((one) => one === options.module_name || one.includes(`(${options.program_id})`));
    const wanted = [`graph_viewer.module_name=${module},type=short_txt,show_metadata=true.txt.gz`, `graph_viewer.module_name=${module},type=long_txt.txt.gz`].find((one) => files.includes(one));
    return wanted ? { text: read(join(session.golden, wanted)), text_type: 'text/plain' } : null;
  }
  const parts = Object.entries(options).filter(([name, value]) => !(name === 'memory_space' && value === '0') && !(name === 'group_by' && value === 'program')).map(([name, value]) => `${name}=${value}`);
  const fits = files.filter((one) => one.startsWith(tool + '.') && one.endsWith('.json.gz')).filter((one) => parts.every((part) => one.includes(part)));
  const file = fits.sort((a, b) => a.length - b.length)[0];
  if (!file) return { notices: [{ severity: 'info', name: 'NOT_RECORDED', message: 'No answer to this question was recorded.', hint: '' }] };
  const text = read(join(session.golden, file));
  if (text === '') return { tables: [] };
  const value = JSON.parse(text);
  if (Array.isArray(value)) return { tables: value.map(tableOf) };
  return value.cols ? { tables: [tableOf(value, 0)] } : { document: value };
}

export function moduleNames(session) {
  const file = join(session.golden, 'module_list.txt.gz');
  return existsSync(file) ? read(file).split(',').filter(Boolean) : [];
}
