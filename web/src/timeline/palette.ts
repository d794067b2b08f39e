// Colours of a frame by index: 0-9 the op categories, 10-19 their edges, then the surfaces. All come from the tokens.

import { categories, categoryInk, themeTokens, type ResolvedTheme } from '../theme/tokens';

export const EDGE_OFFSET = 10;
export const COLOUR_SURFACE = 20;
export const COLOUR_SUNKEN = 21;
export const COLOUR_LINE = 22;
export const COLOUR_APP = 23;
export const COLOUR_CONTROL = 24;
export const COLOUR_INK = 25;
export const COLOUR_ACCENT = 26;
export const PALETTE_SIZE = 27;

export interface Palette {
  readonly css: readonly string[];
  readonly rgb: Float32Array; // 3 x PALETTE_SIZE, 0..1
  readonly text: string;
  readonly text2: string;
  readonly muted: string;
  readonly accent: string;
  readonly warn: string;
  readonly line: string;
  readonly surface: string;
  readonly ink: string;
}

export function hexToRgb(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1, 7), 16);
  return [((value >> 16) & 255) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export function makePalette(theme: ResolvedTheme): Palette {
  const tokens = themeTokens(theme);
  const css: string[] = [];
  for (let i = 0; i < EDGE_OFFSET; ++i) {
    css[i] = categories[i]!.fill;
    css[EDGE_OFFSET + i] = categories[i]!.edge;
  }
  css[COLOUR_SURFACE] = tokens.surface;
  css[COLOUR_SUNKEN] = tokens.sunken;
  css[COLOUR_LINE] = tokens.line;
  css[COLOUR_APP] = tokens.app;
  css[COLOUR_CONTROL] = tokens.control;
  css[COLOUR_INK] = categoryInk;
  css[COLOUR_ACCENT] = tokens.accent;
  const rgb = new Float32Array(PALETTE_SIZE * 3);
  css.forEach((colour, i) => rgb.set(hexToRgb(colour), i * 3));
  return {
    css, rgb, text: tokens.text, text2: tokens.text2, muted: tokens.muted, accent: tokens.accent, warn: tokens.warn,
    line: tokens.line, surface: tokens.surface, ink: categoryInk,
  };
}

/** The colour of a bar of a given strength (0..255) on the lane behind it. */
export function mixedBytes(palette: Palette, colour: number, strength: number): [number, number, number] {
  const share = strength / 255;
  const channel = (i: number): number => {
    const over = palette.rgb[colour * 3 + i]!;
    const under = palette.rgb[COLOUR_SURFACE * 3 + i]!;
    return Math.round((under + (over - under) * share) * 255);
  };
  return [channel(0), channel(1), channel(2)];
}

export function mixedCss(palette: Palette, colour: number, strength: number): string {
  return `rgb(${mixedBytes(palette, colour, strength).join()})`;
}
