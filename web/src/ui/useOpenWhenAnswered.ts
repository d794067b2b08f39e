// Enter in the search of a list: opens the row when what is shown is the answer to the words, else as soon as it is. Other words, or
// Escape, give it up.
//
//   const enter = useOpenWhenAnswered(q, list.answered, () => open(0));
//   on Enter: enter.press(); on Escape: enter.forget();
import { useEffect, useState } from 'react';

export interface OpenWhenAnswered {
  readonly press: () => void;
  readonly forget: () => void;
  readonly waits: boolean;
}

export function useOpenWhenAnswered(words: string, answered: boolean, open: () => void): OpenWhenAnswered {
  const [awaited, setAwaited] = useState<string | null>(null);
  useEffect(() => {
    if (awaited === null) return;
    if (awaited !== words) setAwaited(null);
    else if (answered) {
      setAwaited(null);
      open();
    }
    // `open` is of this drawing, which knows the rows that came.
  }, [awaited, words, answered]);
  return { press: () => setAwaited(words), forget: () => setAwaited(null), waits: awaited !== null };
}
