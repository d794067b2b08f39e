import { Icon } from '../ui/Icon';
import type { StateWord } from './runs';

export function RunStateChip({ state, title }: { state: StateWord; title?: string }) {
  return (
    <span className={`chip ${state.tone}`} title={title}>
      <Icon name={state.tone} />
      {state.word}
    </span>
  );
}
