// Everything that shows data, in every state an answer can be in. What is around the data is the frame that every tool page has.
import { type ReactNode, useState } from 'react';
import { AccessTable } from '../admin/AccessTable';
import { AreaChart } from '../charts/AreaChart';
import { BlockMap } from '../charts/BlockMap';
import { Histogram } from '../charts/Histogram';
import { LineChart } from '../charts/LineChart';
import { RooflineChart } from '../charts/RooflineChart';
import { Spark } from '../charts/Spark';
import { StackedBars } from '../charts/StackedBars';
import { Treemap } from '../charts/Treemap';
import { formatCount, formatTime, significant, unknown } from '../format/format';
import { AnswerFrame } from '../tools/AnswerFrame';
import { DataTable } from '../tools/DataTable';
import { FactList } from '../tools/Facts';
import { StaleBanner } from '../ui/states';
import { TextView } from '../ui/TextView';
import { Cell, Section } from './Cell';
import { answers, areaSeries, areaXs, blocks, curveMarks, curveRange, curves, device, hloText, lists, listStates, memoryLimit, owners, points, runTimes, sparkValues, type StateName, stateNames, stepBars, stepParts } from './samples';

const nothing = () => undefined;
const skeletonHeight = 120;
const wordsHeight = 170; // Of a notice alone.
const noticeHeight = 84; // Of a notice above something.

interface Body {
  readonly part: string;
  readonly height: number;
  readonly draw: () => ReactNode; // The body of an answer that has data.
}

const panel = (title: string, inside: ReactNode) => (
  <section className="panel" aria-label={title}>
    <header>
      <h2>{title}</h2>
    </header>
    {inside}
  </section>
);

const bodies: readonly Body[] = [
  { part: 'DataTable', height: 270, draw: () => null },
  { part: 'StackedBars', height: 300, draw: () => panel('Step times', <StackedBars parts={stepParts} bars={stepBars} title="Step times by part" height={150} />) },
  { part: 'AreaChart', height: 320, draw: () => panel('Memory', <AreaChart xs={areaXs} series={areaSeries} title="Memory over time" formatX={(x) => `${x} s`} limit={memoryLimit} marks={[{ x: 8, label: 'peak' }]} height={180} />) },
  { part: 'LineChart', height: 320, draw: () => <Curves /> },
  { part: 'RooflineChart', height: 430, draw: () => panel('Roofline', <RooflineChart device={device} memory={device.memories[0]!} points={points} faint={(point) => point.row.index === 2} selected={0} box={null} onSelect={nothing} onBox={nothing} />) },
  { part: 'Treemap', height: 220, draw: () => <Treemap items={owners} title="Owners of the peak" selected="optimizer" onSelect={nothing} height={200} /> },
  { part: 'BlockMap', height: 300, draw: () => panel('Buffers', <BlockMap blocks={blocks} steps={40} title="Buffers of the program" selected="b" onSelect={nothing} height={180} />) },
  { part: 'Histogram', height: 150, draw: () => panel('Runs', <Histogram values={runTimes} />) },
  { part: 'FactList', height: 220, draw: () => panel('Facts', <FactList facts={[['Peak', 21_474_836_480, 'bytes'], ['Mean', 59.1, 'us'], ['Of peak', 57.8, 'percent'], ['Streams', null, ''], ['Truncated', false, '']]} />) },
  { part: 'TextView', height: 270, draw: () => <TextView text={hloText} title="HLO text" line={4} /> },
];

function heightOf(body: Body, state: StateName): number {
  if (state === 'loading' || state === 'error') return wordsHeight;
  // A table says itself that it is empty; a chart of nothing is not drawn.
  if (state === 'empty') return body.part === 'DataTable' ? body.height + noticeHeight : wordsHeight;
  return state === 'whole' ? body.height : body.height + noticeHeight;
}

function Curves() {
  const [at, setAt] = useState<number | null>(120);
  return <LineChart title="loss" unit="1" series={curves} range={curveRange} formatX={(x) => `step ${formatCount(x)}`} formatY={(y) => (y === null ? unknown : significant(y))} marks={curveMarks} at={at} onAt={setAt} onSpan={nothing} height={170} />;
}

export function Answers() {
  return (
    <>
      {bodies.map((body) => (
        <Section key={body.part} title={body.part}>
          {stateNames.map((state) => {
            const { tool, answer } = answers[state];
            const table = answer.value?.tables[0];
            const drawn = !answer.value ? null : body.part === 'DataTable' && table ? <DataTable table={table} keyboard={false} emptyText={tool.reason} /> : state === 'empty' ? null : body.draw();
            return (
              <Cell key={state} part={body.part} state={state} height={heightOf(body, state)}>
                {state === 'stale' && <StaleBanner onReload={nothing} />}
                <AnswerFrame tool={tool} answer={answer} height={skeletonHeight}>
                  {drawn}
                </AnswerFrame>
              </Cell>
            );
          })}
        </Section>
      ))}
      <Section title="Lists">
        {listStates.map((state) => (
          <Cell key={state} part="AccessTable" state={state} height={300}>
            <AccessTable
              label="Users" list={lists[state]} keyOf={(one) => one.name}
              columns={[{ label: 'Name', cell: (one) => one.name, title: (one) => one.name }, { label: 'Role', width: 130, cell: (one) => one.role }]}
              empty={<>No user yet. <button type="button" className="button small">Add the first</button></>}
            />
          </Cell>
        ))}
        <Cell part="Spark" state="with a gap" height={44}>
          <p>
            Step {formatTime(400e9)} <Spark values={sparkValues} />
          </p>
        </Cell>
        <Cell part="Spark" state="empty" height={44}>
          <p>
            Step {unknown} <Spark values={[]} />
          </p>
        </Cell>
      </Section>
    </>
  );
}
