// The mock's tools, in the shape of docs/api/v1.md: invented but consistent answers for every page of the console, for sessions with
// TPU, GPU and without a device. One tool has no page of its own, and one a table of 100,000 rows.
import { randomFrom } from './mock-data.mjs';
import { goldenAnswer, moduleNames } from './mock-goldens.mjs';

const moduleId = '12190760917235803885';
const otherModuleId = '7716253410928341207';
export const modules = [`jit_train_step(${moduleId})`, `jit_train_step(${otherModuleId})`, 'jit_convert_element_type(2433868464432466958)'];

const option = (name, type, def, choices = [], description = '') => ({ name, type, default: def, choices, description });
const tool = (id, title, question, more = {}) => ({ id, aliases: [], title, question, version: 1, scope: 'selection', cost: 'events', listed: true, options: [], ...more });

export const registry = [
  tool('overview_page', 'Overview', 'Where does a step go, and what limits it?', { scope: 'all_hosts' }),
  tool('op_profile', 'Op profile', 'Where does the device time go, and how well is the device used?', { aliases: ['hlo_op_profile'], options: [option('group_by', 'string', 'program', ['program', 'category', 'provenance'], 'What the tree is grouped by first.')] }),
  tool('hlo_stats', 'HLO op stats', 'Which HLO ops take the time, and what bounds them?'),
  tool('framework_op_stats', 'Framework op stats', 'Which framework ops take the time on host and device?', { options: [option('include_idle', 'boolean', 'false', [], 'Count idle time as an op of its own.')] }),
  tool('kernel_stats', 'Kernel stats', 'Which GPU kernels take the time, and how are they launched?'),
  tool('memory_profile', 'Memory profile', 'How is device memory used over time?', { scope: 'one_host' }),
  tool('memory_viewer', 'Memory viewer', 'What fills memory at the peak of a program?', { cost: 'modules', options: [option('module_name', 'string', ''), option('memory_space', 'integer', '0')] }),
  tool('graph_viewer', 'Graph viewer', 'Who feeds this op, and who uses it?', { cost: 'modules', options: [option('module_name', 'string', ''), option('program_id', 'string', ''), option('type', 'string', ''), option('node_name', 'string', ''), option('graph_width', 'integer', '3'), option('show_metadata', 'boolean', 'false'), option('format', 'string', '')] }),
  tool('roofline_model', 'Roofline', 'How far is each op from what the device allows?'),
  tool('input_pipeline_analyzer', 'Input pipeline', 'Does the device wait for input?'),
  tool('pod_viewer', 'Pod viewer', 'How do the cores of a slice compare?', { scope: 'all_hosts' }),
  tool('megascale_stats', 'Megascale stats', 'What do transfers between slices cost?'),
  tool('perf_counters', 'Perf counters', 'What did the hardware counters say?', { scope: 'one_host', options: [option('limit_rows', 'integer', '100000', [], 'Rows at most.'), option('set', 'string', 'all', ['all', 'tensor core', 'memory'], 'Only counters of this set.'), option('hide_zeros', 'boolean', 'true')] }),
  tool('smart_suggestion', 'Advice', 'What should be changed first?', { scope: 'all_hosts' }),
  tool('inference_profile', 'Inference', 'How long do requests take, and where?', { scope: 'one_host' }),
];

export const facts = (session) => ({ host_plane: true, gpu_plane: session.kind === 'GPU', tpu_plane: session.kind === 'TPU', hlo_modules: session.kind !== 'CPU', sidecar_modules: false, dcn_events: false, counters: session.kind === 'TPU', allocations: session.kind !== 'CPU', serving_requests: false });

function applies(id, f) {
  const no = (reason, hint) => ({ applies: false, reason, hint });
  if (id === 'kernel_stats' && !f.gpu_plane) return no('The profile has no GPU plane.', 'Kernels are recorded on GPUs with device_tracer_level 1.');
  if (['memory_viewer', 'graph_viewer', 'hlo_stats', 'roofline_model'].includes(id) && !f.hlo_modules) return no('The profile has no HLO modules.', 'Capture with enable_hlo_proto=true.');
  if (id === 'memory_profile' && !f.allocations) return no('The profile has no allocation events.', 'Capture with host_tracer_level 2 or above.');
  if (id === 'perf_counters' && !f.counters) return no('The profile has no hardware counters.', 'Counters are recorded on TPUs on request.');
  if (id === 'megascale_stats') return no('The job ran in one slice.', 'Nothing to capture: there is no traffic between slices.');
  if (id === 'inference_profile') return no('No serving request was recorded.', 'Annotate requests to see them here.');
  return { applies: true, reason: null, hint: null };
}

export const sessionTools = (session) => {
  const f = facts(session);
  return { version: '9f31c2d0a7e4b65d', hosts: session.hosts, facts: f, tools: registry.map(({ id, title, question, scope, cost, listed }) => ({ id, title, question, scope, cost, listed, ...applies(id, f) })) };
};

// ---- what ran: the same ops for all tools, so that numbers agree from page to page -------------------------------------------

const raw = [
  // name, category, mean us, runs, GFLOP of a run, MiB of a run, source, framework op, program
  ['dot_general.41', 'convolution fusion', 410, 360, 320, 96, '/src/model.py:118', 'jit(train_step)/layer/dot_general', 0],
  ['flash_fwd', 'custom-call', 300, 360, 120, 210, '/src/attention.py:64', 'jit(train_step)/layer/attention', 0],
  ['all-reduce.7', 'all-reduce', 240, 360, 0.1, 180, '/src/train.py:201', 'jit(train_step)/psum', 0],
  ['dot_general.52', 'convolution fusion', 380, 240, 290, 90, '/src/model.py:131', 'jit(train_step)/layer/dot_general', 0],
  ['copy-done.4', 'copy-done', 160, 360, 0, 128, '', '', 0],
  ['reduce.12', 'reduce', 48, 720, 0.2, 60, '/src/loss.py:31', 'jit(train_step)/loss/reduce_sum', 0],
  ['fusion.3', 'loop fusion', 59, 720, 0.6, 84, '/src/model.py:122', 'jit(train_step)/layer/add', 0],
  ['multiply_add_fusion.17', 'loop fusion', 12, 1440, 0.05, 18, '/src/optimizer.py:88', 'jit(train_step)/adam/mul', 0],
  ['dot_general.41', 'convolution fusion', 402, 60, 320, 96, '/src/model.py:118', 'jit(train_step)/layer/dot_general', 1],
  ['loop_dynamic-update-slice_multiply_subtract_broadcast_select_fusion.1284', 'loop fusion', 44, 300, 0.3, 52, '/src/models/transformer/blocks/feed_forward_network.py:1284', 'jit(train_step)/ffn/dynamic_update_slice', 0],
  ['transpose.9', 'data formatting', 21, 720, 0, 40, '/src/model.py:140', 'jit(train_step)/layer/transpose', 0],
  ['<b>custom-call</b>.7', 'custom-call', 18, 120, 0, 8, '', '', 0],
];

const peakGflops = 918000;
const peakGibs = 1525.5;

function opsOf(session) {
  const slower = 1 + ((session.seed % 5) - 2) * 0.03;
  const ops = raw.map(([name, category, meanUs, runs, gflop, mib, source, framework, program], i) => {
    const mean = meanUs * slower * (i % 3 === session.seed % 3 ? 1.08 : 1);
    const total = mean * runs * Math.max(1, session.hosts.length);
    return { name, category, mean, runs: runs * Math.max(1, session.hosts.length), total, gflops: (gflop / mean) * 1e6, gibs: mib / 1024 / (mean / 1e6), gflop, mib, source, framework, module: [moduleId, otherModuleId][program] };
  });
  if (session.seed % 2 === 0) ops.pop();
  const all = ops.reduce((sum, op) => sum + op.total, 0);
  return ops.map((op) => ({ ...op, share: op.total / all, intensity: op.mib > 0 ? (op.gflop * 1e9) / (op.mib * 1024 * 1024) : 0 })).sort((a, b) => b.total - a.total);
}

const col = (id, label, type, unit = null, description = '') => ({ id, label, type, unit, description, properties: {} });
const table = (id, title, columns, rows, subjects = [], properties = {}) => ({ id, title, columns, properties, rows, subjects: rows.map((_, i) => subjects[i] ?? null) });
const subject = (op) => ({ hlo_module_id: op.module, op_name: op.name, framework_op: op.framework || null, step: null, host: null });

function bound(op) {
  return op.gflops / peakGflops > op.gibs / peakGibs ? 'Compute' : 'HBM';
}

function hloStats(session) {
  const ops = opsOf(session);
  let sum = 0;
  const rows = ops.map((op, i) => [i + 1, op.module, op.category, op.name, `%${op.name} = bf16[4,2048,4096]{2,1,0} ${op.category}(%p0, %p1)`, op.framework, op.runs, op.total, op.mean, op.total, op.mean, op.share, (sum += op.share), op.category === 'copy-done' ? 0.4 : 0, op.gflops, op.gflops, op.gibs, op.gibs, op.intensity, bound(op), 'No', op.source, 'TensorCore']);
  return { tables: [table('hlo_stats', 'HLO ops', [col('rank', 'Rank', 'number', 'count'), col('program_id', 'Program id', 'string'), col('category', 'HLO op category', 'string'), col('hlo_op_name', 'HLO op name', 'string'), col('hlo_op_expression', 'HLO op text', 'string'), col('tf_op_name', 'Framework op name', 'string'), col('occurrences', '#Occurrences', 'number', 'count'), col('total_time', 'Total time (us)', 'number', 'us'), col('avg_time', 'Avg. time (us)', 'number', 'us'), col('total_self_time', 'Total self time (us)', 'number', 'us', 'Time of the op itself, without ops inside it.'), col('avg_self_time', 'Avg. self time (us)', 'number', 'us'), col('total_self_time_percent', 'Total self time (%)', 'number', 'fraction'), col('cumulative_total_self_time_percent', 'Cumulative total self time (%)', 'number', 'fraction'), col('dma_stall_percent', '%time stalled by DMA', 'number', 'fraction'), col('model_flop_rate', 'Model GFLOP/s', 'number', 'GFLOP/s'), col('normalized_flop_rate', 'Normalized GFLOP/s', 'number', 'GFLOP/s'), col('measured_memory_bw', 'Measured memory BW (GiB/s)', 'number', 'GiB/s'), col('hbm_bw', 'HBM BW (GiB/s)', 'number', 'GiB/s'), col('operational_intensity', 'Operational intensity (FLOPS/Byte)', 'number', 'flop/byte'), col('bound_by', 'Bound by', 'string'), col('hlo_rematerialization', 'Rematerialization', 'string'), col('source_info', 'Source Info', 'string'), col('core_type', 'TPU core type', 'string')], rows, ops.map(subject))] };
}

function frameworkStats(session) {
  const ops = opsOf(session).filter((op) => op.framework);
  const rows = ops.map((op, i) => [i + 1, 'Device', op.framework.split('/').pop(), op.framework, op.runs, op.total, op.mean, op.total, op.mean, op.share, op.gflops]);
  return { tables: [table('framework_op_stats', 'Framework ops', [col('rank', 'Rank', 'number', 'count'), col('host_or_device', 'Host/device', 'string'), col('type', 'Operation Type', 'string'), col('operation', 'Operation Name', 'string'), col('occurrences', '#Occurrences', 'number', 'count'), col('total_time', 'Total time (us)', 'number', 'us'), col('avg_time', 'Avg. time (us)', 'number', 'us'), col('total_self_time', 'Total self-time (us)', 'number', 'us'), col('avg_self_time', 'Avg. self-time (us)', 'number', 'us'), col('device_total_self_time_percent', 'Total self-time on Device (%)', 'number', 'fraction'), col('model_flop_rate', 'Model FLOP Rate (GFLOP/s)', 'number', 'GFLOP/s')], rows, ops.map(subject))] };
}

function kernels(session) {
  const ops = opsOf(session);
  const rows = ops.map((op, i) => [i + 1, `void ${op.name.replace(/[^\w]/g, '_')}_kernel<float, 128, 4>(float const*, float*, int)`, 64 + (i % 4) * 32, i * 1024, '256,1,1', `${128 * (i + 1)},1,1`, 50 + (i % 5) * 10, /dot|flash/.test(op.name), /dot/.test(op.name), op.framework, op.runs, op.total, op.mean, op.mean * 0.8, op.mean * 1.4]);
  return { tables: [table('kernel_stats', 'Kernels', [col('rank', 'Rank', 'number', 'count'), col('kernel_name', 'Kernel Name', 'string'), col('registers_per_thread', 'Registers per thread', 'number', 'count'), col('shmem_bytes', 'Shared Mem bytes', 'number', 'bytes'), col('block_dim', 'Block dim', 'string'), col('grid_dim', 'Grid dim', 'string'), col('occupancy_pct', 'Theoretical Occupancy %', 'number', 'percent'), col('is_op_tensor_core_eligible', 'Op is TensorCore eligible', 'boolean'), col('is_kernel_using_tensor_core', 'Kernel uses TensorCore', 'boolean'), col('op_name', 'Op Name', 'string'), col('occurrences', 'Occurrences', 'number', 'count'), col('total_duration_us', 'Total Duration (us)', 'number', 'us'), col('avg_duration_us', 'Avg Duration (us)', 'number', 'us'), col('min_duration_us', 'Min Duration (us)', 'number', 'us'), col('max_duration_us', 'Max Duration (us)', 'number', 'us')], rows, ops.map(subject))] };
}

function roofline(session) {
  const ops = opsOf(session);
  const total = ops.reduce((sum, op) => sum + op.total, 0);
  const rows = [];
  const subjects = [];
  const add = (step, rank, category, name, op, feeds) => {
    const roof = Math.min(peakGflops, (op.intensity * peakGibs * 2 ** 30) / 1e9);
    rows.push([step, rank, category, name, op.runs, op.total, op.mean, op.total, op.share, op.gflops, op.gibs, op.gibs, op.intensity, op.intensity, bound(op), op.total / total, roof > 0 ? op.gflops / roof : 0, op.gflops / peakGflops, op.gibs / peakGibs, feeds, op.module, op.source]);
    subjects.push(rank > 0 ? subject(op) : null);
  };
  const flops = ops.reduce((sum, op) => sum + op.gflop * op.runs, 0);
  const mib = ops.reduce((sum, op) => sum + op.mib * op.runs, 0);
  const program = { runs: 1, total, mean: total, share: 0, gflops: (flops / total) * 1e6, gibs: mib / 1024 / (total / 1e6), intensity: (flops * 1e9) / (mib * 1024 * 1024), module: '0', source: '' };
  for (const feeds of [true, false]) {
    add('Total', 0, 'Program', 'Program', program, feeds);
    ops.forEach((op, i) => add('Total', i + 1, op.category, op.name, op, feeds));
    for (let step = 0; step < Math.min(8, session.steps ?? 0); step++) add(String(step), 0, 'Program', 'Program', { ...program, gflops: program.gflops * (0.9 + 0.03 * step), total: total / 12, mean: total / 12 }, feeds);
  }
  return { tables: [table('roofline_model', 'Roofline', [col('step', 'Step', 'string'), col('rank', 'Rank', 'number', 'count'), col('category', 'Category', 'string'), col('operation', 'Operation', 'string'), col('occurrences', '# Occurrences', 'number', 'count'), col('total_time', 'Total Time (us)', 'number', 'us'), col('avg_time', 'Avg. time (us)', 'number', 'us'), col('total_self_time', 'Total self time (us)', 'number', 'us'), col('total_self_time_percent', 'Total self time (%)', 'number', 'fraction'), col('measured_flop_rate', 'Normalized FLOP Rate (GFLOP/s)', 'number', 'GFLOP/s'), col('measured_memory_bw', 'Memory BW (GiB/s)', 'number', 'GiB/s'), col('hbm_bw', 'HBM BW (GiB/s)', 'number', 'GiB/s'), col('operational_intensity', 'Operational Intensity (FLOP/Byte)', 'number', 'flop/byte'), col('hbm_operational_intensity', 'HBM Operational Intensity (FLOP/Byte)', 'number', 'flop/byte'), col('bound_by', 'Bound by', 'string'), col('total_time_in_percentage', 'Total Time (%)', 'number', 'fraction'), col('roofline_efficiency', 'Roofline efficiency (%)', 'number', 'fraction'), col('compute_efficiency', 'FLOP Rate / Peak (%)', 'number', 'fraction'), col('max_mem_bw_utilization', 'Max memory BW utilization (%)', 'number', 'fraction'), col('include_infeed_outfeed', 'Include Infeed/Outfeed', 'boolean'), col('hlo_module_id', 'Program ID', 'string'), col('source_info', 'Source Info', 'string')], rows, subjects, { device_type: session.device, peak_flop_rate: String(peakGflops), peak_hbm_bw: String(peakGibs), hbm_ridge_point: '560.442', peak_vmem_read_bw: '21696.1', peak_vmem_write_bw: '15020.4' })] };
}

function opProfile(session, options) {
  const ops = opsOf(session);
  const busy = ops.reduce((sum, op) => sum + op.total, 0) * 1e6;
  const idlePs = busy * 0.16;
  const node = (name, members, whole, children, xla) => {
    const time = members.reduce((sum, op) => sum + op.total, 0) * 1e6;
    const flops = members.reduce((sum, op) => sum + op.gflop * op.runs, 0) * 1e9;
    const bytes = members.reduce((sum, op) => sum + op.mib * op.runs, 0) * 1024 * 1024;
    const util = time > 0 ? flops / (time / 1e12) / (peakGflops * 1e9) : 0;
    return { name, metrics: { flops: util * (time / whole), uncappedFlops: util * (time / whole), bandwidthUtils: [time > 0 ? bytes / (time / 1e12) / (peakGibs * 2 ** 30) : 0, 0, 0], rawTime: time, rawFlops: flops, rawBytesAccessedArray: [bytes, 0, 0], occurrences: members.length === 1 ? members[0].runs : 0, avgTimePs: members.length === 1 ? members[0].mean * 1e6 : 0 }, children, numChildren: children.length, ...(xla ? { xla } : {}) };
  };
  const leaf = (op, whole) => node(op.name, [op], whole, [], { op: op.category, expression: `%${op.name} = bf16[4,2048,4096] ${op.category}(%p0)`, provenance: op.framework, category: op.category, programId: op.module, sourceInfo: { fileName: op.source.split(':')[0] ?? '', lineNumber: Number(op.source.split(':')[1] ?? -1) } });
  const groupBy = (members, key) => {
    const groups = new Map();
    for (const one of members) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
    return [...groups];
  };
  const programName = (id) => `jit_train_step(${id})`;
  const tree = (levels, members, whole) => (levels.length === 0 ? members.map((op) => leaf(op, whole)) : groupBy(members, levels[0]).map(([name, list]) => node(name, list, whole, tree(levels.slice(1), list, whole))));
  const levels = { program: [(op) => programName(op.module), (op) => op.category], category: [(op) => op.category], provenance: [(op) => op.framework.split('/')[0] || 'no scope', (op) => op.framework.split('/')[1] || 'no scope'] }[options.group_by ?? 'program'];
  const name = { program: 'Program', category: 'Category', provenance: 'Provenance' }[options.group_by ?? 'program'];
  const idle = { name: 'IDLE', metrics: { flops: 0, uncappedFlops: 0, bandwidthUtils: [0, 0, 0], rawTime: idlePs, rawFlops: 0, rawBytesAccessedArray: [0, 0, 0], occurrences: 0, avgTimePs: 0 }, children: [], numChildren: 0, xla: { category: 'IDLE', programId: '0' } };
  const whole = node('by', ops, busy + idlePs, [idle, ...tree(levels, ops, busy + idlePs)]);
  whole.metrics.rawTime = busy + idlePs;
  return { document: { [`by${name}`]: whole, [`by${name}ExcludeIdle`]: node('by', ops, busy, tree(levels, ops, busy)), deviceType: session.kind } };
}

// Like the real one: without steps the tables stand empty and a notice says why.
function stepTable(session) {
  const random = randomFrom(session.seed);
  const steps = session.steps ?? 0;
  const stepMs = (session.stepPs ?? 0) / 1e9;
  const rows = Array.from({ length: steps }, (_, i) => {
    const slow = i === Math.floor(steps / 2) ? 1.35 : 1;
    const feed = stepMs * (0.05 + 0.05 * random()) * (slow > 1 ? 4 : 1);
    return [String(i + 1), stepMs * (0.74 + 0.04 * random()), 0, 0, feed, stepMs * 0.01, stepMs * 0.06 * slow, stepMs * 0.03, `step ${i + 1}`, (feed / stepMs) * 100];
  });
  const ms = (id, label) => col(id, `${label} (in ms)`, 'number', 'ms');
  const conclusion = steps > 0 ? 'Your program is MODERATELY input-bound because 9.1% of the total step time sampled is waiting for input. Therefore, you would need to reduce both the input time and other time.' : 'No step time measured. Therefore we cannot tell where the performance bottleneck is.';
  return table('step_breakdown', 'Steps', [col('stepnum', 'stepnum', 'string'), ms('tcComputeTimeMs', 'TensorCore compute'), ms('scv0ComputeTimeMs', 'SparseCoreV0 compute'), ms('scv0InfeedTimeMs', 'SparseCoreV0 input'), ms('tcInfeedTimeMs', 'TensorCore input'), ms('tcOutfeedTimeMs', 'TensorCore output'), ms('tcIdleTimeMs', 'TensorCore idle'), ms('hostTransferTimeMs', 'Host transfer'), col('tooltip', 'tooltip', 'string'), col('infeedPercentAverage', '% step time waiting for input data', 'number', 'percent')], rows, [], { hardware_type: session.kind, input_conclusion: conclusion, output_conclusion: '', steptime_ms_average: stepMs.toFixed(2), infeed_percent_average: '9.1' });
}

function noSteps(session) {
  return (session.steps ?? 0) > 0 ? [] : [{ severity: 'warning', name: 'NO_STEPS', message: 'No step marker was found, so step times are not known.', hint: 'Wrap each step in jax.profiler.StepTraceAnnotation("train", step_num=i).' }];
}

function inputPipeline(session) {
  const ops = session.kind === 'GPU' ? [] : [['Iterator::Root::Prefetch::Generator', 24, 21.7, 0.38, 21.7, 0.38, 'Preprocessing'], ['Iterator::Root::ParallelMapV2', 24, 16.9, 0.3, 16.9, 0.3, 'Preprocessing'], ['Iterator::Root::TFRecord', 24, 14, 0.25, 14, 0.25, 'Advanced file read'], ['TransferBuffer', 24, 4.1, 0.07, 4.1, 0.07, 'Enqueue']];
  return { notices: noSteps(session), tables: [stepTable(session), table('input_ops', 'Input ops on the host', [col('opName', 'Input Op', 'string'), col('count', 'Count', 'number', 'count'), col('timeInMs', 'Total Time (in ms)', 'number', 'ms'), col('timeInPercent', 'Total Time (as % of total input-processing time)', 'number', 'fraction'), col('selfTimeInMs', 'Total Self Time (in ms)', 'number', 'ms'), col('selfTimeInPercent', 'Total Self Time (as % of total input-processing time)', 'number', 'fraction'), col('category', 'Category', 'string')], ops, [], { advanced_file_read_us: '14027.110', demanded_file_read_us: '20936.071', enqueue_us: '6000.000', preprocessing_us: '110606.417', unclassified_nonequeue_us: '0.000' })] };
}

function overviewPage(session) {
  const ops = opsOf(session).slice(0, 10);
  const flops = ops.reduce((sum, op) => sum + (op.gflops / peakGflops) * op.share, 0);
  const pct = (share) => `${(share * 100).toFixed(1)}%`;
  const steps = (session.steps ?? 0) > 0;
  let sum = 0;
  const rows = ops.map((op) => [op.share, (sum += op.share), op.category, op.name, op.gflops]);
  return {
    notices: noSteps(session),
    tables: [
      table('top_ops', 'Top ops', [col('selfTimePercent', 'Time (%)', 'number', 'fraction'), col('cumulativeTimePercent', 'Cumulative time (%)', 'number', 'fraction'), col('category', 'Category', 'string'), col('operation', 'Operation', 'string'), col('flopRate', 'GFLOPs/Sec', 'number', 'GFLOP/s')], rows, ops.map(subject), { device_duty_cycle_percent: '86.5%', device_idle_time_percent: '13.4%', host_idle_time_percent: '92.0%', flop_rate_utilization_relative_to_roofline: pct(flops), mxu_utilization_percent: pct(flops * 1.1), hbm_utilization_percent: '41.0%', device_op_time_eager_percent: '0.0%', remark_text: '' }),
      stepTable(session),
      table('run_environment', 'Run environment', [col('host_id', 'host_id', 'string'), col('command_line', 'command_line', 'string'), col('start_time', 'start_time', 'string')], [], [], { device_core_count: String((session.devices ?? 0) * session.hosts.length), device_type: session.device, host_count: String(session.hosts.length), is_training: 'true', task_count: String(session.hosts.length) }),
      table('recommendations', 'Recommendations', [col('tip_type', 'tip_type', 'string'), col('link', 'link', 'string'), col('description', 'description', 'string')], [['host', 'input_pipeline_analyzer (especially Section 3 for the breakdown of input operations on the Host)', 'Next steps for reducing the Host time'], ['device', '<a href="https://example.com">hlo_stats</a> (identify the time-consuming operations on the device)', 'Next steps for reducing the Device time']], [], { bottleneck: steps ? 'device' : 'unknown', statement: steps ? 'Your program is MODERATELY input-bound because 9.1% of the total step time sampled is waiting for input.' : 'No step time measured. Therefore we cannot tell where the performance bottleneck is.' }),
    ],
  };
}

function memoryProfile(session) {
  const random = randomFrom(session.seed + 5);
  const allocators = {};
  const gib = 2 ** 30;
  for (let device = 0; device < Math.max(1, session.devices ?? 1); device++) {
    const curve = [];
    const live = [];
    let heap = 0;
    for (let i = 0; i < 160; i++) {
      const give = live.length > 20 && random() < 0.5;
      const activity = give ? { ...live.splice(Math.floor(random() * live.length), 1)[0], memoryActivity: 'DEALLOCATION' } : { memoryActivity: 'ALLOCATION', requestedBytes: Math.round(random() * 400 * 2 ** 20), address: 1e9 + i * 4096, tfOpName: raw[i % raw.length][7], stepId: 1 + (i % 12), regionType: 'output', dataType: 'bfloat16', tensorShape: '4,2048,4096' };
      if (!give) {
        activity.allocationBytes = Math.ceil(activity.requestedBytes / 4096) * 4096;
        live.push(activity);
      }
      heap += give ? -activity.allocationBytes : activity.allocationBytes;
      curve.push({ timeOffsetPs: Math.round((i / 160) * 100e9), aggregationStats: { stackReservedBytes: 6 * gib, heapAllocatedBytes: heap, freeMemoryBytes: 26 * gib - heap, fragmentation: 0.02, peakBytesInUse: heap + 6 * gib }, activityMetadata: activity });
    }
    const peak = curve.reduce((a, b) => (b.aggregationStats.heapAllocatedBytes > a.aggregationStats.heapAllocatedBytes ? b : a));
    allocators[device] = {
      profileSummary: { peakBytesUsageLifetime: peak.aggregationStats.peakBytesInUse + gib, peakStats: { ...peak.aggregationStats }, peakStatsTimePs: peak.timeOffsetPs, memoryCapacity: 32 * gib },
      memoryProfileSnapshots: curve.slice(0, 30), sampledTimelineSnapshots: curve,
      activeAllocations: [{ snapshotIndex: -1, specialIndex: 0, numOccurrences: 1 }, ...Array.from({ length: 24 }, (_, i) => ({ snapshotIndex: i, specialIndex: -1, numOccurrences: 1 + (i % 3) }))],
      specialAllocations: [{ memoryActivity: 'ALLOCATION', requestedBytes: 6 * gib, allocationBytes: 6 * gib, address: 0, tfOpName: 'stack', stepId: 0, regionType: 'stack', dataType: 'INVALID', tensorShape: 'unknown' }],
    };
  }
  return { document: { memoryProfilePerAllocator: allocators, numHosts: 1, memoryIds: Object.keys(allocators), version: 1, hloModules: [{ name: modules[0], startTimePs: 2e9, endTimePs: 60e9, id: '0', planeName: 'TPU:0' }] } };
}

function memoryViewer(session, options) {
  if (!modules.includes(options.module_name)) return null;
  const scale = [1, 0.4, 0.02][modules.indexOf(options.module_name)];
  const names = instructionNames();
  const buffers = names.filter((name) => !/^(param|constant|tuple)/.test(name)).map((name, i) => ({ id: 10 + i, name, mib: Math.round((60 + ((i * 37) % 11) * 90) * scale), start: Math.max(0, i - 1), limit: Math.min(names.length - 1, i + 3 + (i % 5)), group: i % 4 === 0 ? 'Parameter' : 'Temporary', opcode: /dot/.test(name) ? 'dot' : 'fusion' }));
  const heapSizes = names.map((_, step) => buffers.filter((one) => one.start <= step && step <= one.limit).reduce((sum, one) => sum + one.mib, 0));
  const peakAt = heapSizes.indexOf(Math.max(...heapSizes));
  const alive = buffers.filter((one) => one.start <= peakAt && peakAt <= one.limit);
  let offset = 0;
  const maxHeap = alive.map((one, i) => ({ numbered: i, label: one.name, logicalBufferId: one.id, logicalBufferSizeMib: one.mib, unpaddedShapeMib: one.mib * 0.97, instructionName: one.name, shapeString: 'bf16[4,2048,4096]{2,1,0}', groupName: one.group, opCode: one.opcode, tfOpName: 'jit(train_step)/layer/add', sourceInfo: { fileName: '/src/model.py', lineNumber: 118 } }));
  return {
    document: {
      heapSizes, unpaddedHeapSizes: heapSizes.map((size) => size * 0.97), maxHeap, maxHeapBySize: maxHeap, moduleName: 'jit_train_step', entryComputationName: 'main.22', peakHeapMib: heapSizes[peakAt], peakUnpaddedHeapMib: heapSizes[peakAt] * 0.97, peakHeapSizePosition: peakAt,
      nonReusableMib: 120 * scale, maybeLiveOutMib: 40 * scale, totalBufferAllocationMib: heapSizes[peakAt] * 1.05, indefiniteBufferAllocationMib: 40 * scale, hloInstructionNames: names,
      logicalBufferSpans: Object.fromEntries(buffers.map((one) => [one.id, { start: one.start, limit: one.limit }])), indefiniteLifetimes: [],
      bufferBlocks: buffers.map((one) => {
        const block = { logicalBufferId: one.id, name: one.name, offset, size: one.mib * 2 ** 20, startStep: one.start, endStep: one.limit, category: one.group };
        offset = (offset + block.size) % (heapSizes[peakAt] * 2 ** 20);
        return block;
      }),
    },
  };
}

// ---- a module as text ---------------------------------------------------------------------------------------------------

function instructionLines() {
  const lines = ['  param.0 = bf16[4,2048,4096]{2,1,0} parameter(0)', '  param.1 = bf16[4096,4096]{1,0} parameter(1)', '  constant.2 = f32[] constant(1e-06)'];
  const used = ['param.0'];
  for (const [name, category, , , , , source, framework] of raw.slice(0, 8)) {
    const first = used[used.length - 1];
    const second = used.length > 3 ? used[used.length - 3] : 'param.1';
    const opcode = /dot/.test(name) ? 'dot' : /all-reduce/.test(name) ? 'all-reduce' : /copy-done/.test(name) ? 'copy-done' : /flash/.test(name) ? 'custom-call' : /reduce/.test(name) ? 'reduce' : 'fusion';
    const calls = opcode === 'fusion' ? `, kind=kLoop, calls=fused_${name.replace(/[^\w]/g, '_')}` : '';
    const [file, line] = source.split(':');
    lines.push(`  ${name} = bf16[4,2048,4096]{2,1,0} ${opcode}(${first}, ${second})${calls}, metadata={op_name="${framework}"${file ? ` source_file="${file}" source_line=${line}` : ''}}`);
    used.push(name);
    if (category === 'loop fusion') {
      lines.push(`  transpose.${used.length} = bf16[2048,4,4096]{2,1,0} transpose(${name}), dimensions={1,0,2}`);
      used.push(`transpose.${used.length}`);
    }
  }
  lines.push(`  ROOT tuple.9 = (bf16[4,2048,4096]{2,1,0}, bf16[4,2048,4096]{2,1,0}) tuple(${used[used.length - 1]}, ${used[2]})`);
  return lines;
}

const instructionNames = () => instructionLines().map((line) => /^\s*(?:ROOT )?(\S+) =/.exec(line)[1]);

export function moduleText() {
  const fused = raw.slice(0, 8).filter(([, category]) => category === 'loop fusion').map(([name]) => `fused_${name.replace(/[^\w]/g, '_')} {\n  p0.${name} = bf16[4,2048,4096]{2,1,0} parameter(0)\n  ROOT add.${name} = bf16[4,2048,4096]{2,1,0} add(p0.${name}, p0.${name})\n}\n`);
  return `HloModule jit_train_step, is_scheduled=true\n\n${fused.join('\n')}\nENTRY main.22 {\n${instructionLines().join('\n')}\n}\n`;
}

function graph(options) {
  if (options.program_id ? !modules.some((one) => one.includes(options.program_id)) : !modules.includes(options.module_name)) return null;
  return { text: moduleText(), text_type: 'text/plain' };
}

const counterTables = new Map();

function counters(session) {
  if (counterTables.has(session.id)) return counterTables.get(session.id);
  const random = randomFrom(session.seed);
  const rows = Array.from({ length: session.id.endsWith('000') ? 100_000 : 600 }, (_, i) => [session.hosts[0] ?? '', i % 4, `counter_${String(i).padStart(6, '0')}_${['issued', 'stalled', 'bytes', 'cycles'][i % 4]}`, { value: Math.floor(random() * 1e9), text: '0x' + i.toString(16) }, ['tensor core', 'memory'][i % 2]]);
  counterTables.set(session.id, { tables: [table('perf_counters', 'Counters', [col('host', 'Host', 'string'), col('chip', 'Chip', 'number', 'count'), col('counter', 'Counter', 'string'), col('value', 'Value (Hex)', 'number', 'count'), col('set', 'Set', 'string')], rows)] });
  return counterTables.get(session.id);
}

const answers = { overview_page: overviewPage, op_profile: opProfile, hlo_stats: hloStats, framework_op_stats: frameworkStats, kernel_stats: (session) => (session.kind === 'GPU' ? kernels(session) : { tables: [{ ...kernels(session).tables[0], rows: [], subjects: [] }] }), memory_profile: memoryProfile, memory_viewer: memoryViewer, roofline_model: roofline, input_pipeline_analyzer: inputPipeline, perf_counters: counters };
answers.smart_suggestion = () => ({ document: { suggestions: [{ ruleName: 'InputBoundRule', suggestionText: 'Read ahead: 9.1 % of the step waits for input.', gainPercent: 9.1 }, { ruleName: 'CollectiveBoundRule', suggestionText: 'Overlap all-reduce.7 with the backward pass.', gainPercent: 6.4 }], generatedAt: '2026-11-29' } });
answers.pod_viewer = () => ({ document: { deviceType: 'TPU', podStatsSequence: { podStatsMap: [] } }, notices: [] });

export function answerOf(session, id, options) {
  if (session.golden) return goldenAnswer(session, id, options);
  if (id === 'graph_viewer') return graph(options);
  const found = answers[id] ?? (() => ({ tables: [] }));
  return found(session, options);
}

export const plain = (cell) => (cell !== null && typeof cell === 'object' ? cell.value : cell);

export const modulesOf = (session) => (session.golden ? moduleNames(session) : session.kind === 'CPU' ? [] : modules);
