// Colours, type and icons as the tokens give them.
import { RunStateChip } from '../runs/RunStateChip';
import { useResolvedTheme } from '../theme/theme';
import { categories, heat, themeTokens } from '../theme/tokens';
import { Icon, iconNames } from '../ui/Icon';
import { MiddleText } from '../ui/MiddleText';
import { StateChip } from '../ui/states';
import type { SessionState } from '../api/types';
import { Cell, Section } from './Cell';

const inks = ['text', 'text2', 'muted', 'accent', 'good', 'bad', 'warn', 'crit'] as const;
const grounds = ['app', 'surface', 'sunken'] as const;
const states: readonly SessionState[] = ['complete', 'partial', 'damaged', 'empty', 'writing', 'unread'];

export function Foundations() {
  const tokens = themeTokens(useResolvedTheme());
  return (
    <Section title="Tokens">
      <Cell part="Colours" state="on their grounds" height={196}>
        <div className="gallery-ground">
          {grounds.map((ground) => (
            <div key={ground} style={{ backgroundColor: `var(--${ground})` }}>
              {inks.map((ink) => (
                <div key={ink} style={{ color: `var(--${ink})` }}>
                  {ink} {tokens[ink]}
                </div>
              ))}
            </div>
          ))}
        </div>
      </Cell>
      <Cell part="Categories" state="of operations" height={196}>
        <div className="gallery-ground">
          {categories.map((one) => (
            <div key={one.key} className="cell-category">
              <span className={`swatch cat-${one.key}`} style={{ backgroundColor: `var(--cat-${one.key})`, borderColor: `var(--cat-${one.key}-edge)` }} aria-hidden="true" />
              <span className="truncate">{one.label}</span>
            </div>
          ))}
        </div>
      </Cell>
      <Cell part="Heat" state="0 to 100 %" height={56}>
        <div className="gallery-heat" role="img" aria-label="Heat from little to much">
          {heat.map((one, i) => (
            <span key={one} style={{ backgroundColor: `var(--heat-${i})` }} />
          ))}
        </div>
      </Cell>
      <Cell part="Type" state="sizes" height={176}>
        <div className="gallery-size-24 number">412.6 ms</div>
        <h1>Title of a page</h1>
        <p>Body and tables: 1,234,567.89 of 2,304 runs.</p>
        <p className="label">Labels and axes</p>
        <p className="mono">%fusion.3 = f32[8,128]{'{1,0}'} fusion(%dot.4)</p>
      </Cell>
      <Cell part="MiddleText" state="too long" height={44}>
        <MiddleText text="loop_add_multiply_fusion_with_a_very_long_name_that_gives_way_in_the_middle.12" />
      </Cell>
      <Cell part="Icon" state="all" wide height={188}>
        <div className="gallery-icons">
          {iconNames.map((name) => (
            <span key={name}>
              <Icon name={name} />
              <span className="truncate">{name}</span>
            </span>
          ))}
        </div>
      </Cell>
      <Cell part="StateChip" state="all" height={76}>
        <div className="gallery-row">
          {states.map((state) => (
            <StateChip key={state} state={state} />
          ))}
        </div>
      </Cell>
      <Cell part="RunStateChip" state="all" height={44}>
        <div className="gallery-row">
          <RunStateChip state={{ word: 'Running', tone: 'writing' }} />
          <RunStateChip state={{ word: 'Completed', tone: 'complete' }} />
          <RunStateChip state={{ word: 'Failed', tone: 'damaged' }} />
        </div>
      </Cell>
    </Section>
  );
}
