export default function TimelinePage(props: { sessionId: string }) {
  return <p>{props.sessionId}</p>;
}
