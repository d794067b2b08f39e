// Who is signed in but has no role anywhere: lists are empty for them, and that is said, with whom to ask.
import { Link } from '../ui/Link';
import { useContact, useMe } from './me';

export function NoRole() {
  const me = useMe();
  const contact = useContact();
  return (
    <div className="lost-page">
      <h1>Nothing is open to you yet</h1>
      <p className="text2">
        {me?.subject ? (
          <>
            You are signed in as <code>{me.subject}</code>, and that account has no role in any project.
          </>
        ) : (
          'You look at what a share link opens, without an account.'
        )}{' '}
        Ask an administrator for a role in your project. What was shared with you opens under its link. {contact}
      </p>
      <div className="links">
        <Link to="/account" className="button">
          Your account
        </Link>
      </div>
    </div>
  );
}
