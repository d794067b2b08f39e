// Fits names into bars: the whole name, else a middle ellipsis, else nothing. Widths come from a table of letters
// measured once per font, so fitting costs no canvas call per frame.
//
//   const fitter = new TextFitter((text) => context.measureText(text).width);
//   fitter.fit('loop_convert_fusion.12', 90)   -> "loop_con…on.12"

/** Shorter cuts say nothing: "do..1" could be anything. */
const LEAST_LETTERS = 6;
/** Names longer than this are cut before they are measured; no bar is that wide. */
const MAX_LETTERS = 512;
/** Kept fits; a screen has at most some hundreds, zooming makes new ones. */
const MAX_KEPT = 8192;
const ELLIPSIS = '\u2026';
/** Of what is kept of a cut name, this share is its head. */
const HEAD_SHARE = 0.6;

export class TextFitter {
  private readonly letterWidths = new Map<string, number>();
  private readonly wholeWidths = new Map<string, number>();
  private readonly fits = new Map<string, string>();

  constructor(private readonly measure: (text: string) => number) {}

  /** Call when the font has changed (fonts arrive late). */
  forget(): void {
    this.letterWidths.clear();
    this.wholeWidths.clear();
    this.fits.clear();
  }

  width(text: string): number {
    const known = this.wholeWidths.get(text);
    if (known !== undefined) return known;
    let sum = 0;
    for (const letter of text.length > MAX_LETTERS ? text.slice(0, MAX_LETTERS) : text) sum += this.letterWidth(letter);
    if (this.wholeWidths.size >= MAX_KEPT) this.wholeWidths.clear();
    this.wholeWidths.set(text, sum);
    return sum;
  }

  fit(text: string, widthPx: number): string {
    if (this.width(text) <= widthPx) return text.length > MAX_LETTERS ? text.slice(0, MAX_LETTERS) : text;
    const key = `${Math.floor(widthPx)}\u0000${text}`;
    const known = this.fits.get(key);
    if (known !== undefined) return known;
    const cut = this.cut([...text.slice(0, MAX_LETTERS)], Math.floor(widthPx));
    if (this.fits.size >= MAX_KEPT) this.fits.clear();
    this.fits.set(key, cut);
    return cut;
  }

  private cut(letters: readonly string[], widthPx: number): string {
    let left = widthPx - this.letterWidth(ELLIPSIS);
    let head = 0;
    let tail = 0;
    // Take letters from both ends in the wanted proportion until the next one does not fit.
    while (head + tail < letters.length) {
      const fromHead = head <= (head + tail) * HEAD_SHARE;
      const next = this.letterWidth(fromHead ? letters[head]! : letters[letters.length - 1 - tail]!);
      if (next > left) break;
      left -= next;
      if (fromHead) ++head;
      else ++tail;
    }
    if (head + tail < LEAST_LETTERS) return '';
    return letters.slice(0, head).join('') + ELLIPSIS + letters.slice(letters.length - tail, letters.length).join('');
  }

  private letterWidth(letter: string): number {
    let width = this.letterWidths.get(letter);
    if (width === undefined) {
      width = this.measure(letter);
      this.letterWidths.set(letter, width);
    }
    return width;
  }
}
