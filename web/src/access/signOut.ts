import { href } from '../state/router';

// To the sign-in page, and from there to the front page: what was open belonged to another sign-in.
export function leaveForSignIn(): void {
  window.location.assign(href('/sign-in'));
}
