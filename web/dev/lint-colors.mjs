// Fails when code spells a colour itself: colours come from src/theme/tokens.json only.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../src/', import.meta.url));
const allowed = new Set(['theme/tokens.json', 'theme/tokens.css', 'app/icon.svg']);
// A colour computed from token channels, rgb(${...}), is fine.
const colour = /#[0-9a-fA-F]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\((?!\$\{)|:\s*(?:white|black|red|green|blue|gr[ae]y|orange|yellow|purple)\s*[;,'"]/;

function* files(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (/\.(ts|tsx|css)$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name)) yield path;
  }
}

let found = 0;
for (const path of files(root)) {
  const name = relative(root, path);
  if (allowed.has(name)) continue;
  readFileSync(path, 'utf8').split('\n').forEach((line, i) => {
    const code = line.replace(/\/\/.*$/, '').replace(/href="#\w+"/, '');
    if (colour.test(code)) {
      found++;
      console.error(`src/${name}:${i + 1}: a colour outside the tokens: ${line.trim()}`);
    }
  });
}
if (found > 0) {
  console.error(`${found} colours outside src/theme/tokens.json. Use var(--name) or theme/tokens.ts.`);
  process.exit(1);
}
