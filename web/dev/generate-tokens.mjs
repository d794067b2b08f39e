// Writes src/theme/tokens.css from src/theme/tokens.json, the one place where a colour is spelled.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function tokensToCss(tokens) {
  const block = (theme, pad) =>
    Object.entries(tokens.themes[theme]).map(([name, value]) => `${pad}--${name}: ${value};`).join('\n');
  // Of src/theme/CategoryPatterns.tsx.
  const patterns = tokens.categories.map((c) => `  --fill-${c.key}: url(#pattern-${c.key});`).join('\n');
  const lines = [
    '/* Generated from tokens.json by `npm run tokens`. Do not edit. */',
    `:root {\n  color-scheme: light;\n${block('light', '  ')}`,
    ...tokens.categories.map((c) => `  --cat-${c.key}: ${c.fill};\n  --cat-${c.key}-edge: ${c.edge};\n  --fill-${c.key}: ${c.fill};`),
    ...tokens.heat.map((value, i) => `  --heat-${i}: ${value};`),
    `  --ink: ${tokens.ink};\n}`,
    `@media (prefers-color-scheme: dark) {\n  :root:not([data-theme]) {\n    color-scheme: dark;\n${block('dark', '    ')}\n  }\n}`,
    `:root[data-theme='dark'] {\n  color-scheme: dark;\n${block('dark', '  ')}\n}`,
    `:root[data-theme='contrast'] {\n  color-scheme: light;\n${block('contrast', '  ')}\n${patterns}\n}`,
  ];
  return lines.join('\n') + '\n';
}

if (process.argv[1]?.endsWith('generate-tokens.mjs')) {
  const themeDir = fileURLToPath(new URL('../src/theme/', import.meta.url));
  const tokens = JSON.parse(readFileSync(themeDir + 'tokens.json', 'utf8'));
  writeFileSync(themeDir + 'tokens.css', tokensToCss(tokens));
}
