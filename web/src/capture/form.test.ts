import { describe, expect, it } from 'vitest';
import { checkForm, emptyForm, splitTargets } from './form';

const form = (changes = {}) => ({ ...emptyForm('127.0.0.1:9012'), ...changes });

describe('the capture form', () => {
  it('is ready to send as it opens', () => {
    expect(checkForm(form()).request).toEqual({ targets: ['127.0.0.1:9012'], duration_ms: 2000, root: null, host_tracer_level: 2, device_tracer_level: 1, python_tracer_level: 0, options: {} });
  });
  it('splits targets by comma, blank and line, once each', () => {
    expect(splitTargets(' a:1, b:2\nc:3;a:1 ')).toEqual(['a:1', 'b:2', 'c:3']);
  });
  it.each(['', 'host', 'host:', 'host:0', 'host:70000', 'ho st:1', 'http://host:80'])('refuses the target "%s"', (targets) => {
    const { request, errors } = checkForm(form({ targets }));
    expect(request).toBeNull();
    expect(errors.targets).toBeTruthy();
  });
  it('takes an IPv6 target', () => expect(checkForm(form({ targets: '[::1]:9012' })).request?.targets).toEqual(['[::1]:9012']));
  it('takes lengths as people write them', () => {
    expect(checkForm(form({ seconds: '0,5' })).request?.duration_ms).toBe(500);
    expect(checkForm(form({ seconds: '3 s' })).request?.duration_ms).toBe(3000);
    for (const seconds of ['', '0', '-1', 'soon', '601']) expect(checkForm(form({ seconds })).errors.seconds).toBeTruthy();
  });
  it('refuses places outside the log directory', () => {
    for (const run of ['/etc', '../up', 'a//b', 'a/..']) expect(checkForm(form({ run })).errors.run).toBeTruthy();
    expect(checkForm(form({ run: 'llama/run1', session: 'before_fix' })).request).toMatchObject({ run: 'llama/run1', session: 'before_fix' });
    expect(checkForm(form({ session: 'a/b' })).errors.session).toBeTruthy();
  });
});
