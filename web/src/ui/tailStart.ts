const shortestTail = 10; // The end of a name ("fusion.1234") tells ops apart, so it is never cut.
const longestTail = 18;

// Where the tail of a name begins: at a word if one starts near enough.
export function tailStart(text: string): number {
  if (text.length <= shortestTail * 2) return text.length;
  for (let i = text.length - shortestTail; i >= text.length - longestTail; i--) {
    if (/[_\-/:. ]/.test(text[i - 1]!)) return i;
  }
  return text.length - shortestTail;
}
