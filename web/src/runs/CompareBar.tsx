// Which runs stand beside this one: chips that can be taken away, a menu to put one in, the way to their newest profiles.
import { useState } from 'react';
import { toApiError } from '../api/client';
import { formatAge } from '../format/format';
import { navigate } from '../state/router';
import { pushKeys } from '../state/url';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { Menu } from '../ui/Menu';
import { showToast } from '../ui/toasts';
import { runsApi, type RunKey } from './client';
import { withText } from './compare';
import { mostCompared } from './listModel';
import { keyOf, runAddress, runTitle, sessionAddress, timeOf } from './runs';
import type { Run, RunSession } from './types';

export interface OtherRun {
  readonly key: RunKey;
  readonly run: Run | null; // Null: not there, or not for us.
}

const mostOffered = 50;

interface CompareBarProps {
  run: Run;
  runKey: RunKey;
  others: readonly OtherRun[];
  mayList: boolean;
  sessions: readonly RunSession[];
}

const same = (a: RunKey, b: RunKey) => a.location === b.location && a.id === b.id;

export function CompareBar({ run, runKey, others, mayList, sessions }: CompareBarProps) {
  const [offered, setOffered] = useState<readonly Run[] | null>(null);
  const load = () => {
    setOffered(null);
    runsApi.list(runKey.project, { orderBy: 'create_time desc', pageSize: mostOffered }).then(
      (page) => {
        // Those of the same group are what one is mostly after.
        const rest = page.items.filter((one) => !same(keyOf(one.name), runKey));
        setOffered([...rest.filter((one) => one.runSet && one.runSet === run.runSet), ...rest.filter((one) => !one.runSet || one.runSet !== run.runSet)]);
      },
      () => setOffered([]),
    );
  };
  const setOthers = (keys: readonly RunKey[]) => pushKeys({ with: withText(keys) });
  const openProfiles = async () => {
    const mine = sessions.map(sessionAddress).find(Boolean);
    try {
      const page = await runsApi.sessions(others[0]!.key, false);
      const theirs = page.items.map(sessionAddress).find(Boolean);
      if (!mine || !theirs) {
        showToast({ tone: 'bad', icon: 'empty', text: `${mine ? runTitle(others[0]!.run ?? run) : runTitle(run)} has no profile that opens here.` });
        return;
      }
      navigate(`${mine}?b=${theirs.split('/')[2]}`);
    } catch (error) {
      showToast({ tone: 'bad', icon: 'damaged', text: `The profiles could not be listed. ${toApiError(error).body.message}` });
    }
  };
  return (
    <div className="compare-bar">
      {others.length > 0 && <span className="label">Beside</span>}
      {others.map((other) => (
        <span key={`${other.key.location}/${other.key.id}`} className={other.run ? 'chip compared' : 'chip compared damaged'}>
          {other.run ? <Link to={runAddress(other.key)}>{runTitle(other.run)}</Link> : <span title="No such run, or it is not open to you">{other.key.id} is not there</span>}
          <button type="button" className="button plain square small" aria-label={`Leave out ${other.run ? runTitle(other.run) : other.key.id}`} onClick={() => setOthers(others.filter((one) => one !== other).map((one) => one.key))}>
            <Icon name="close" />
          </button>
        </span>
      ))}
      {mayList && others.length < mostCompared - 1 && (
        <Menu
          label="Compare with another run"
          className="button small"
          onOpen={load}
          button={
            <>
              Compare with
              <Icon name="chevron" />
            </>
          }
        >
          {(close) => (
            <>
              <div className="menu-title label">Newest runs of {runKey.project}</div>
              {offered === null && <div className="menu-title muted">Loading</div>}
              {offered?.length === 0 && <div className="menu-title muted">No other run.</div>}
              {offered
                ?.filter((one) => !others.some((other) => same(other.key, keyOf(one.name))))
                .map((one) => (
                  <button
                    key={one.name}
                    type="button"
                    className="menu-item"
                    role="menuitem"
                    onClick={() => {
                      close();
                      setOthers([...others.map((other) => other.key), keyOf(one.name)]);
                    }}
                  >
                    {runTitle(one)}
                    <span className="end">
                      {one.runSet ? `${one.runSet}, ` : ''}
                      {formatAge(timeOf(one.createTime), Date.now())}
                    </span>
                  </button>
                ))}
            </>
          )}
        </Menu>
      )}
      {others[0]?.run && (
        <button type="button" className="button small" onClick={() => void openProfiles()} title={`The newest profile of this run, with that of ${runTitle(others[0].run)} as the baseline`}>
          Compare newest profiles
        </button>
      )}
    </div>
  );
}
