// @vitest-environment node
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
// @ts-expect-error The generator is plain JavaScript so that Node runs it without a build.
import { tokensToCss } from '../../dev/generate-tokens.mjs';
import tokens from './tokens.json';

function luminance(hex: string): number {
  const channel = (i: number) => {
    const c = Number.parseInt(hex.slice(1 + i * 2, 3 + i * 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2);
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

describe('tokens', () => {
  it('tokens.css is what `npm run tokens` writes', () => {
    expect(readFileSync('src/theme/tokens.css', 'utf8')).toBe(tokensToCss(tokens));
  });
  // acceptance: W6
  it('no code spells a colour of its own', () => {
    const lint = spawnSync(process.execPath, ['dev/lint-colors.mjs'], { encoding: 'utf8' });
    expect(lint.stderr).toBe('');
    expect(lint.status).toBe(0);
  });
  for (const [name, theme] of Object.entries(tokens.themes)) {
    for (const ground of ['app', 'surface', 'sunken', 'hover', 'accentbg', 'warnbg', 'critbg'] as const) {
      const standard = ground === 'app' || ground === 'surface' || ground === 'sunken';
      // acceptance: W6
      it(`${name}: text can be read on ${ground}`, () => {
        expect(contrast(theme.text, theme[ground])).toBeGreaterThanOrEqual(standard ? 14 : 11);
        expect(contrast(theme.text2, theme[ground])).toBeGreaterThanOrEqual(standard ? 7.5 : 6.5);
        if (standard) {
          for (const colour of ['muted', 'accent', 'good', 'bad', 'warn', 'crit'] as const) expect(contrast(theme[colour], theme[ground]), colour).toBeGreaterThanOrEqual(4.85);
          expect(contrast(theme.control, theme[ground])).toBeGreaterThanOrEqual(3);
        }
      });
    }
    it(`${name}: button text can be read on the accent`, () => expect(contrast(theme.onaccent, theme.accent)).toBeGreaterThanOrEqual(4.9));
  }
  // acceptance: W6
  it('labels can be read on every category', () => {
    for (const category of tokens.categories) expect(contrast(tokens.ink, category.fill), category.key).toBeGreaterThanOrEqual(5.15);
  });
});
