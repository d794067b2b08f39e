// A fault in one page must not take the shell with it: says what happened and offers the way back.
import { Component, type ErrorInfo, type ReactNode } from 'react';
import { Icon } from '../ui/Icon';

interface Props {
  children: ReactNode;
  resetKey: string; // Another address clears the fault.
}

interface State {
  error: Error | null;
  resetKey: string;
}

// After an upgrade of the server the old page asks for parts that are gone.
export function isMissingPart(error: Error): boolean {
  return /dynamically imported module|module script failed|Importing a module/i.test(error.message);
}

export class ErrorBoundary extends Component<Props, State> {
  state: State = { error: null, resetKey: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.resetKey === state.resetKey ? null : { error: null, resetKey: props.resetKey };
  }

  componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error('A page of the console failed', error, info.componentStack);
  }

  render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="page" id="page" tabIndex={-1}>
        <PageFault error={error} />
      </div>
    );
  }
}

export function PageFault({ error }: { error: Error }) {
  const missing = isMissingPart(error);
  return (
    <div className="notice error" role="alert">
      <Icon name="damaged" />
      <div className="grow prose">
        <strong>{missing ? 'A part of this page could not be loaded.' : 'This page failed.'}</strong>{' '}
        {missing ? 'The server was restarted with another version, or the connection was lost.' : error.message}
        <div className="text2">{missing ? 'Reload to get the current version.' : 'Reload the page. If it comes back, report it with the text above.'}</div>
      </div>
      <button type="button" className="button small" onClick={() => window.location.reload()}>
        <Icon name="reload" />
        Reload
      </button>
    </div>
  );
}
