// What stands around the body of any answer: what it says of itself, why it failed and the way on, or the form of what will come.
//
//   <AnswerFrame tool={tool} answer={answer}>{answer.value && <Body answer={answer.value} />}</AnswerFrame>
import type { ReactNode } from 'react';
import { ErrorNotice, Skeleton } from '../ui/states';
import type { Resource } from '../ui/useResource';
import { Notices } from './Notices';
import type { ToolAnswer, ToolInfo } from './types';

interface AnswerFrameProps {
  tool: ToolInfo;
  answer: Resource<ToolAnswer>;
  children: ReactNode; // Empty while there is nothing to draw yet.
  height?: number; // Of the form that is shown meanwhile.
}

export function AnswerFrame({ tool, answer, children, height = 300 }: AnswerFrameProps) {
  const failed = answer.error !== null && answer.value === null && !answer.error.lostConnection;
  return (
    <>
      <Notices tool={tool} answer={answer.value} />
      <Failure tool={tool} answer={answer} />
      {failed ? null : (children || (answer.loading && <Skeleton width="100%" height={height} />))}
    </>
  );
}

function Failure({ tool, answer }: { tool: ToolInfo; answer: Resource<ToolAnswer> }) {
  if (!answer.error || answer.error.lostConnection) return null;
  // A tool without data may answer with an error that says the same as its reason.
  if (!tool.applies && answer.error.status < 500) return null;
  return <ErrorNotice what={`${tool.title} could not be made.`} error={answer.error} onRetry={answer.reload} />;
}
