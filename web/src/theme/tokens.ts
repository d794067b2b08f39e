// Colours for code that paints by itself (canvas, WebGL). Style sheets use the same values as var(--name).
import tokens from './tokens.json';

export type ResolvedTheme = 'light' | 'dark' | 'contrast';
export type ThemeTokens = Readonly<Record<keyof typeof tokens.themes.light, string>>;

export interface CategoryToken {
  readonly key: string;
  readonly label: string;
  readonly fill: string;
  readonly edge: string;
}

// Index is the `category` of the tile format: 0 other, 1 matmul ... 8 host code, 9 step or module marker.
export const categories: readonly CategoryToken[] = tokens.categories;
export const categoryInk: string = tokens.ink;
export const heat: readonly string[] = tokens.heat;

export function themeTokens(theme: ResolvedTheme): ThemeTokens {
  return tokens.themes[theme];
}

// The overview names a category in words; these are the words that lead to each colour.
const wordsByCategory: readonly (readonly [RegExp, number])[] = [
  [/all-?reduce|all-?gather|all-?to-?all|reduce-?scatter|collective|permute|nccl|send|recv/, 6],
  [/infeed|outfeed|host transfer|transfer|memcpy|h2d|d2h|copy-(start|done)/, 7],
  [/custom|kernel|pallas|triton/, 3],
  [/matmul|dot|conv|gemm|einsum/, 1],
  [/fusion|elementwise|element-wise|loop/, 2],
  [/reduce|sort|scan|top-?k/, 4],
  [/data movement|movement|copy|transpose|reshape|slice|gather|scatter|broadcast|concatenate|pad|format/, 5],
  [/host|runtime|python|thunk/, 8],
  [/step|module/, 9],
];

export function categoryOf(word: string | null | undefined): CategoryToken {
  const lower = (word ?? '').toLowerCase();
  const exact = categories.find((category) => category.key === lower || category.label.toLowerCase() === lower);
  if (exact) return exact;
  for (const [pattern, index] of wordsByCategory) {
    if (pattern.test(lower)) return categories[index]!;
  }
  return categories[0]!;
}
