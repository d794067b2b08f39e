// The page's own fonts as text inside a file, so that it looks the same where they are not installed and nothing may be fetched.
import { toBase64 } from './encode';

const kept = new Map<string, Promise<string>>();

function facesOf(families: ReadonlySet<string>): CSSFontFaceRule[] {
  const found: CSSFontFaceRule[] = [];
  for (const sheet of document.styleSheets) {
    for (const rule of rulesOf(sheet)) {
      if (rule instanceof CSSFontFaceRule && families.has(familyName(rule.style.getPropertyValue('font-family')))) found.push(rule);
    }
  }
  return found;
}

// A style sheet of another origin (an extension's) does not let itself be read.
export function rulesOf(sheet: CSSStyleSheet): readonly CSSRule[] {
  try {
    return [...sheet.cssRules];
  } catch {
    return [];
  }
}

export function familyName(text: string): string {
  return text.trim().replace(/^["']|["']$/g, '').toLowerCase();
}

export function familiesOf(fontFamily: string): string[] {
  return fontFamily.split(',').map(familyName);
}

async function embed(rule: CSSFontFaceRule): Promise<string> {
  const source = rule.style.getPropertyValue('src');
  const address = /url\(["']?([^"')]+)["']?\)/.exec(source)?.[1];
  if (!address) return rule.cssText; // local(...): nothing is fetched for it.
  const base = rule.parentStyleSheet?.href ?? document.baseURI;
  const response = await fetch(new URL(address, base));
  if (!response.ok) return '';
  const data = toBase64(new Uint8Array(await response.arrayBuffer()));
  const property = (name: string) => {
    const value = rule.style.getPropertyValue(name);
    return value ? `${name}:${value};` : '';
  };
  return `@font-face{${property('font-family')}${property('font-style')}${property('font-weight')}${property('unicode-range')}src:url(data:font/woff2;base64,${data}) format('woff2');}`;
}

// @font-face rules of the families that are meant (lower case), each with its file inside. A font that cannot be had is left out: the
// fallbacks that stand behind it are used then.
export async function embeddedFonts(families: ReadonlySet<string>): Promise<string> {
  const made = facesOf(families).map((rule) => {
    const key = rule.cssText;
    let face = kept.get(key);
    if (!face) {
      face = embed(rule).catch(() => {
        kept.delete(key);
        return '';
      });
      kept.set(key, face);
    }
    return face;
  });
  return (await Promise.all(made)).filter(Boolean).join('\n');
}
