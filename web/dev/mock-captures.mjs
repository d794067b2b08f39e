// Captures that pretend: a target on port 1 refuses, one on port 2 returns nothing, all others record and are saved.
import { randomUUID } from 'node:crypto';

const tickMs = 100;

export class MockCaptures {
  constructor(sessions) {
    this.sessions = sessions;
    this.operations = new Map();
    this.listeners = new Map();
  }

  list() {
    return [...this.operations.values()];
  }

  find(id) {
    return this.operations.get(id);
  }

  start(body) {
    const now = Date.now();
    const operation = {
      id: 'op-' + randomUUID().slice(0, 12), kind: 'capture', done: false, cancelled: false, created_unix_ms: now, updated_unix_ms: now, deadline_unix_ms: now + body.duration_ms + 60_000,
      progress: { stage: 'connecting', done: 0, total: body.duration_ms, unit: 'ms' },
      targets: body.targets.map((target) => ({ target, state: 'connecting', received_bytes: 0, message: null, hint: null, file: null })),
      result: null, error: null,
    };
    this.operations.set(operation.id, operation);
    const timer = setInterval(() => {
      this.tick(operation, body, Date.now() - now);
      if (operation.done) clearInterval(timer);
    }, tickMs);
    return operation;
  }

  tick(operation, body, elapsed) {
    if (operation.done) return;
    operation.updated_unix_ms = Date.now();
    for (const target of operation.targets) {
      if (target.target.endsWith(':1') && target.state === 'connecting') {
        Object.assign(target, { state: 'failed', message: `${target.target} refused the connection.`, hint: 'Start the job with jax.profiler.start_server(PORT) and check the port.' });
      } else if (target.state === 'connecting' && elapsed > 300) {
        target.state = 'recording';
      } else if (target.state === 'recording' && elapsed > 300 + body.duration_ms) {
        target.state = 'collecting';
      } else if (target.state === 'collecting') {
        target.received_bytes += 1_700_000;
        if (target.target.endsWith(':2')) Object.assign(target, { state: 'empty', received_bytes: 0, message: 'The process answered with an empty profile.', hint: 'Nothing ran while it recorded. Capture for longer.' });
        else if (elapsed > 1500 + body.duration_ms) Object.assign(target, { state: 'saved', file: target.target.replace(':', '_') + '.xplane.pb' });
      }
    }
    const open = operation.targets.filter((target) => ['connecting', 'recording', 'collecting'].includes(target.state));
    operation.progress = { stage: open[0]?.state ?? 'done', done: Math.min(body.duration_ms, Math.max(0, elapsed - 300)), total: body.duration_ms, unit: 'ms' };
    if (open.length === 0) this.finish(operation, body);
    this.emit(operation);
  }

  finish(operation, body) {
    operation.done = true;
    const saved = operation.targets.filter((target) => target.state === 'saved');
    if (saved.length > 0) {
      const date = new Date().toISOString();
      const name = body.session ?? date.slice(0, 19).replace(/[-:T]/g, '_');
      const session = this.sessions.addCaptured(name, body.run, saved.map((target) => target.target.replace(':', '_')));
      operation.result = { session: session.id, session_name: session.name, hosts_saved: saved.length };
    } else if (!operation.cancelled) {
      operation.error = { code: 'UNAVAILABLE', name: 'CAPTURE_EMPTY', message: 'No target delivered a profile.', hint: 'Look at each target for its cause.', request_id: null };
    }
  }

  cancel(id) {
    const operation = this.operations.get(id);
    if (!operation.done) {
      operation.cancelled = true;
      for (const target of operation.targets) {
        if (['connecting', 'recording', 'collecting'].includes(target.state)) Object.assign(target, { state: 'cancelled', message: 'Cancelled before the profile was collected.' });
      }
      this.finish(operation, {});
      this.emit(operation);
    }
    return operation;
  }

  emit(operation) {
    for (const response of this.listeners.get(operation.id) ?? []) {
      response.write(`data: ${JSON.stringify(operation)}\n\n`);
      if (operation.done) response.end();
    }
    if (operation.done) this.listeners.delete(operation.id);
  }

  stream(id, request, response) {
    const operation = this.operations.get(id);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(`data: ${JSON.stringify(operation)}\n\n`);
    if (operation.done) return response.end();
    const set = this.listeners.get(id) ?? new Set();
    set.add(response);
    this.listeners.set(id, set);
    request.on('close', () => set.delete(response));
  }
}
