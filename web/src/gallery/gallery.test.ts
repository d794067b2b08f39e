// @vitest-environment node
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const shown = readdirSync('src/gallery').filter((name) => name.endsWith('.tsx')).map((name) => readFileSync(`src/gallery/${name}`, 'utf8')).join('\n');
const parts = ['src/ui', 'src/charts'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.tsx') && !name.includes('.test.'))
    .flatMap((name) => [...readFileSync(`${folder}/${name}`, 'utf8').matchAll(/^export function ([A-Z]\w*)/gm)].map((found) => found[1]!)),
);

describe('the gallery', () => {
  it('finds the parts it must show', () => expect(parts.length).toBeGreaterThan(20));
  it.each(parts)('shows %s', (name) => expect(shown).toMatch(new RegExp(`<${name}[\\s/>]`)));
  it('names every state of an answer', () => {
    const states = readFileSync('src/gallery/samples.ts', 'utf8');
    for (const state of ['loading', 'partial', 'empty', 'error', 'lossy', 'stale']) expect(states).toContain(`'${state}'`);
    expect(shown).toContain('<StaleBanner');
  });
});
