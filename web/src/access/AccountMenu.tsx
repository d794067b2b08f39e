// Who am I, my account and tokens, sign out. Not there where nobody is asked who they are.
import { signInUrl } from '../api/client';
import { navigate } from '../state/router';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { showToast } from '../ui/toasts';
import { accessApi } from './client';
import { useMe } from './me';
import { mayDo, shortName } from './rights';
import { leaveForSignIn } from './signOut';

export function AccountMenu() {
  const me = useMe();
  if (!me || me.kind === 'local') return null;
  if (!me.subject) {
    return (
      <a className="button" href={signInUrl(window.location)} title="You look at what a share link opens">
        Sign in
      </a>
    );
  }
  const name = me.display_name || shortName(me.subject);
  const signOut = () =>
    accessApi.signOut(false).then(leaveForSignIn, (error: Error) => showToast({ tone: 'bad', icon: 'damaged', text: `You are still signed in. ${error.message}` }));
  return (
    <Menu
      label={`Account of ${name}`}
      className="button plain account"
      align="right"
      button={
        <>
          <Icon name="user" />
          <span className="truncate wide">{name}</span>
        </>
      }
    >
      {(close) => {
        const choose = (work: () => void) => () => {
          close();
          work();
        };
        return (
          <>
            <div className="menu-title">
              <div>{name}</div>
              <div className="mono muted">{me.subject}</div>
            </div>
            <button type="button" className="menu-item" role="menuitem" onClick={choose(() => navigate('/account'))}>
              <Icon name="user" />
              Account and tokens
            </button>
            {mayDo(me, 'admin') && (
              <button type="button" className="menu-item" role="menuitem" onClick={choose(() => navigate('/admin'))}>
                <Icon name="admin" />
                Administration
              </button>
            )}
            <button type="button" className="menu-item" role="menuitem" onClick={choose(() => void signOut())}>
              <Icon name="close" />
              Sign out
            </button>
          </>
        );
      }}
    </Menu>
  );
}
