// The filters of the list under names: take one, keep the present one, forget one.
import { useState } from 'react';
import { navigate, useLocation } from '../state/router';
import { Dialog } from '../ui/Dialog';
import { FormButtons } from '../ui/forms';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { Field } from '../ui/states';
import { showToast } from '../ui/toasts';
import { filterSearch, forgetFilter, saveFilter, useSavedFilters } from './savedFilters';

export function SavedFilters() {
  const saved = useSavedFilters();
  const now = filterSearch(useLocation().search);
  const current = saved.find((one) => one.search === now);
  const [naming, setNaming] = useState(false);
  return (
    <>
      <Menu
        label="Saved filters"
        className="button"
        button={
          <>
            <Icon name="filter" />
            <span className="truncate">{current?.name ?? 'Filters'}</span>
            <Icon name="chevron" />
          </>
        }
      >
        {(close) => (
          <>
            <div className="menu-title label">{saved.length > 0 ? 'Saved in this browser' : 'No filter is saved yet'}</div>
            {saved.map((one) => (
              <div key={one.name} className="menu-pair">
                <button
                  type="button"
                  className="menu-item"
                  role="menuitemradio"
                  aria-checked={one === current}
                  onClick={() => {
                    close();
                    navigate('/runs' + one.search);
                  }}
                >
                  <Icon name={one === current ? 'check' : 'filter'} />
                  {one.name}
                </button>
                <button type="button" className="button plain square small" aria-label={`Forget the filter ${one.name}`} title={`Forget the filter ${one.name}`} onClick={() => forgetFilter(one.name)}>
                  <Icon name="close" />
                </button>
              </div>
            ))}
            <button
              type="button"
              className="menu-item"
              role="menuitem"
              disabled={now === ''}
              onClick={() => {
                close();
                setNaming(true);
              }}
            >
              <Icon name="files" />
              {now === '' ? 'Set a filter to save it' : 'Save the filter as…'}
            </button>
          </>
        )}
      </Menu>
      {naming && <NameDialog search={now} taken={saved.map((one) => one.name)} onClose={() => setNaming(false)} />}
    </>
  );
}

function NameDialog({ search, taken, onClose }: { search: string; taken: readonly string[]; onClose: () => void }) {
  const [name, setName] = useState('');
  const text = name.trim();
  return (
    <Dialog title="Save the filter" onClose={onClose} width={420}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!text) return;
          const kept = saveFilter(text, search);
          onClose();
          if (!kept) showToast({ tone: 'bad', icon: 'damaged', text: `This browser stores nothing, so the filter ${text} is gone with this tab. The address of the page holds it too.` });
        }}
      >
        <Field label="Name" hint={taken.includes(text) ? 'There is one of this name; it is replaced.' : 'Kept in this browser. For others, send the address of the page.'}>
          <input className="input" data-autofocus value={name} onChange={(event) => setName(event.target.value)} maxLength={80} required />
        </Field>
        <FormButtons busy={false} verb="Save" disabled={!text} onClose={onClose} />
      </form>
    </Dialog>
  );
}
