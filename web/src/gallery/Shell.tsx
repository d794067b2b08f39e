// What the shell says around a page: it reads, it is behind, it lost its server, it met a fault, it found nothing.
import { LostConnection } from '../app/ConnectionBanner';
import { PageFault } from '../app/ErrorBoundary';
import { NoticeLine } from '../tools/Notices';
import { ContextBar } from '../tools/ContextBar';
import { EmptyStates } from '../timeline/EmptyStates';
import { INITIAL_STATE } from '../timeline/state';
import { Store } from '../timeline/store';
import '../timeline/timeline.css';
import { ErrorNotice, LoadBanner, LoadingOn, Skeleton, SkeletonRows, StaleBanner } from '../ui/states';
import { Cell, Section } from './Cell';
import { fault } from './samples';

const nothing = () => undefined;
const mib = 2 ** 20;
const noEvents = new Store({ ...INITIAL_STATE, noEvents: true });
const noProfile = new Store({ ...INITIAL_STATE, empty: true });

export function ShellStates() {
  return (
    <Section title="States of a page">
      <Cell part="LoadBanner" state="unpacking" height={52}>
        <LoadBanner stage="unpacking" doneBytes={4 * mib} totalBytes={50 * mib} secondsLeft={null} />
      </Cell>
      <Cell part="LoadBanner" state="looking through" height={52}>
        <LoadBanner stage="indexing" doneBytes={12 * mib} totalBytes={980 * mib} secondsLeft={null} />
      </Cell>
      <Cell part="LoadBanner" state="reading" height={52}>
        <LoadBanner stage="decoding" doneBytes={340 * mib} totalBytes={980 * mib} secondsLeft={3} />
      </Cell>
      <Cell part="StaleBanner" state="stale" height={60}>
        <StaleBanner onReload={nothing} />
      </Cell>
      <Cell part="LoadingOn" state="to the last" height={44}>
        <LoadingOn cursor={{ goal: Infinity, stop: nothing }} loaded={2400} what="session" />
      </Cell>
      <Cell part="LostConnection" state="lost" height={84}>
        <LostConnection tries={4} onRetry={nothing} />
      </Cell>
      <Cell part="ErrorNotice" state="with retry" height={160}>
        <ErrorNotice what="The session could not be opened." error={fault} onRetry={nothing} />
      </Cell>
      <Cell part="PageFault" state="of our own" height={112}>
        <PageFault error={new Error('Cannot read a row that is not there')} />
      </Cell>
      <Cell part="PageFault" state="of an old page" height={112}>
        <PageFault error={new Error('Failed to fetch dynamically imported module')} />
      </Cell>
      <Cell part="NoticeLine" state="note" height={84}>
        <NoticeLine severity="info">The profile marks no steps; they were found by their programs.</NoticeLine>
      </Cell>
      <Cell part="NoticeLine" state="loss" height={84}>
        <NoticeLine severity="warning" hint="Capture for a shorter time.">Host 3 dropped 812,331 events after 4.2 s.</NoticeLine>
      </Cell>
      <Cell part="Skeleton" state="lines" height={52}>
        <Skeleton width={220} height={20} />
      </Cell>
      <Cell part="SkeletonRows" state="of a table" height={132}>
        <table className="table" aria-label="Rows that will come">
          <tbody>
            <SkeletonRows rows={4} columns={[180, 90, 60]} />
          </tbody>
        </table>
      </Cell>
      <Cell part="ContextBar" state="nothing chosen" height={56}>
        <ContextBar sessionId="gallery" tool="ops" detail={null} hosts={['host-0', 'host-1']} />
      </Cell>
      <Cell part="EmptyStates" state="no event in view" height={132}>
        <EmptyStates store={noEvents} session={null} />
      </Cell>
      <Cell part="EmptyStates" state="no event at all" height={132}>
        <EmptyStates store={noProfile} session={null} />
      </Cell>
    </Section>
  );
}
