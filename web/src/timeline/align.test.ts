import { describe, expect, it } from 'vitest';
import { alignChoices, nearestStep, shiftOf, sideOf, type AlignSide } from './align';
import { testHost, testLine, testPlane } from './testSession';

const step = (name: string, startPs: number) => ({ name, startPs, endPs: startPs + 50 });
const side = (changes: Partial<AlignSide>): AlignSide => ({ window: { startPs: 0, endPs: 1000 }, firstDevicePs: null, steps: [], ...changes });

describe('two sessions', () => {
  it('are aligned by the first step that both have', () => {
    const upper = side({ steps: [step('3', 100), step('4', 200), step('5', 300)], firstDevicePs: 90 });
    const lower = side({ steps: [step('4', 730), step('5', 840)], firstDevicePs: 700, window: { startPs: 50, endPs: 2000 } });
    const choices = alignChoices(upper, lower);
    expect(choices.map((one) => [one.id, one.shiftPs])).toEqual([['step:4', 530], ['step:5', 540], ['device', 610], ['start', 50]]);
    expect(shiftOf(choices, '')).toEqual({ id: 'step:4', shiftPs: 530 });
    expect(shiftOf(choices, 'step:5').shiftPs).toBe(540);
    expect(nearestStep(choices, upper, 330)!.id).toBe('step:5');
    // A step that only one of them has cannot be aligned by.
    expect(nearestStep(choices, upper, 110)!.id).toBe('step:4');
  });

  it('without a common name are aligned by number, else by what the devices began with, else by their starts', () => {
    expect(alignChoices(side({ steps: [step('a', 10)] }), side({ steps: [step('b', 40)] }))[0]).toMatchObject({ id: 'nth:1', shiftPs: 30 });
    expect(alignChoices(side({ firstDevicePs: 5 }), side({ firstDevicePs: 9 }))[0]).toMatchObject({ id: 'device', shiftPs: 4 });
    expect(alignChoices(side({}), side({}))).toEqual([{ id: 'start', label: 'Start of the profiles', shiftPs: 0 }]);
  });

  it('take a shift by hand, and no nonsense', () => {
    const choices = alignChoices(side({ firstDevicePs: 5 }), side({ firstDevicePs: 9 }));
    expect(shiftOf(choices, 'shift:-123456789').shiftPs).toBe(-123456789);
    for (const text of ['shift:', 'shift:1.5', 'shift:99999999999999999999', 'step:<script>']) expect(shiftOf(choices, text).shiftPs).toBe(4);
    expect(shiftOf([], 'step:1').shiftPs).toBe(0);
  });

  it('begin on devices with measured work, not with derived lines or idle ones', () => {
    const plane = {
      ...testPlane('0.0', 0),
      lines: [testLine('0.0.0', { kind: 'steps', start_ps: 1 }), testLine('0.0.1', { kind: 'ops', derived: true, start_ps: 2 }), testLine('0.0.2', { kind: 'ops', start_ps: 30 }), testLine('0.0.3', { kind: 'stream', start_ps: 20, event_count: 0 })],
    };
    const lines = { version: 'v', complete: true, window: { start_ps: 0, end_ps: 99 }, hosts: [testHost('0', [plane])] };
    expect(sideOf(lines, []).firstDevicePs).toBe(30);
  });
});
