// Steps and programs on the ruler. The whole session is asked for once; where it has more than an answer holds, the part
// around the view is asked for again whenever the view rests outside of what is known.

import { api } from '../api/client';
import { spansOf, type StepMark } from './marks';
import type { RulerMarks } from './model';
import { viewEndPs, type TimeSpan, type View } from './view';

/** More bands than pixels on a ruler are not seen. */
const MOST_ASKED = 2000;

export interface ShownMarks {
  readonly steps: readonly StepMark[];
  readonly modules: readonly StepMark[];
}

export class RulerMarkLoader {
  private known: { span: TimeSpan; whole: boolean } | null = null;
  private call = new AbortController();

  constructor(private readonly sessionId: string, private readonly show: (marks: ShownMarks) => void) {}

  dispose(): void {
    this.call.abort();
  }

  forget(): void {
    this.known = null;
  }

  /** Call when the view rests. */
  async look(view: View, window: TimeSpan): Promise<void> {
    const { known } = this;
    if (known !== null && (known.whole || (known.span.startPs <= view.startPs && known.span.endPs >= viewEndPs(view) && known.span.endPs - known.span.startPs < 16 * view.durationPs))) return;
    const span = known === null ? window : { startPs: view.startPs - view.durationPs, endPs: viewEndPs(view) + view.durationPs };
    this.call.abort();
    this.call = new AbortController();
    const { signal } = this.call;
    try {
      const answer = await api.marks(this.sessionId, { from_ps: span.startPs, to_ps: span.endPs, limit: MOST_ASKED }, { signal });
      const cut = cutMarks(answer);
      this.known = { span, whole: known === null && !cut };
      this.show(shownMarks(answer));
    } catch {
      // A profile without steps is no error, and a ruler without them is still a ruler.
    }
  }
}

function cutMarks(answer: RulerMarks): boolean {
  return (answer.steps !== null && answer.steps.total > answer.steps.items.length) || answer.modules.some((one) => one.total > one.items.length);
}

/** Programs are those of the first device that ran any: in one job all devices run the same. */
export function shownMarks(answer: RulerMarks): ShownMarks {
  const first = answer.modules.find((one) => one.items.length > 0);
  return { steps: spansOf(answer.steps?.items ?? []), modules: spansOf(first?.items ?? []) };
}
