// Controls, and the layers that controls open. A layer is shown by its button, as on any page.
import { useState } from 'react';
import { ChartFrame, ChartMenu } from '../charts/ChartFrame';
import { OptionsBar } from '../tools/OptionsBar';
import { ConfirmDialog } from '../ui/ConfirmDialog';
import { Dialog } from '../ui/Dialog';
import { FormButtons } from '../ui/forms';
import { Icon } from '../ui/Icon';
import { Link } from '../ui/Link';
import { Menu } from '../ui/Menu';
import { Field, Select } from '../ui/states';
import { showToast } from '../ui/toasts';
import { Cell, Section } from './Cell';
import { fault, tool } from './samples';

const nothing = () => undefined;
const noFrame = { current: null };
const choices = [
  { value: 'name', label: 'by name' },
  { value: 'program', label: 'by program' },
];

export function Controls() {
  const [layer, setLayer] = useState<'dialog' | 'confirm' | null>(null);
  const [chosen, setChosen] = useState('name');
  return (
    <Section title="Controls">
      <Cell part="Button" state="all" height={132}>
        <div className="gallery-row">
          <button type="button" className="button">Plain</button>
          <button type="button" className="button primary"><Icon name="capture" />Capture</button>
          <button type="button" className="button danger">Delete</button>
          <button type="button" className="button plain">Quiet</button>
          <button type="button" className="button square" aria-label="Close an example"><Icon name="close" /></button>
        </div>
        <div className="gallery-row">
          <button type="button" className="button small">Small</button>
          <button type="button" className="button plain small">Small and quiet</button>
          <button type="button" className="button" disabled>Cannot</button>
          <button type="button" className="button primary" disabled>Cannot</button>
        </div>
        <Link to="/gallery" className="button">A link as a button</Link>
      </Cell>
      <Cell part="Field" state="plain and wrong" height={172}>
        <Field label="Targets" hint="HOST:PORT, one a line">
          <input className="input" defaultValue="127.0.0.1:9012" />
        </Field>
        <Field label="Length" hint={<span className="crit">A length is a number and a unit, for example 5 s.</span>}>
          <input className="input" aria-invalid="true" defaultValue="soon" />
        </Field>
      </Cell>
      <Cell part="Select" state="closed" height={76}>
        <Field label="Fold rows">
          <Select value={chosen} choices={choices} onChange={setChosen} />
        </Field>
      </Cell>
      <Cell part="Tabs" state="first chosen" height={56}>
        <div className="tabs" role="group" aria-label="Example of tabs">
          <button type="button" className="tab current" aria-pressed="true">Settings</button>
          <button type="button" className="tab" aria-pressed="false">Metrics</button>
          <button type="button" className="tab" aria-pressed="false">Profiles 12</button>
        </div>
      </Cell>
      <Cell part="OptionsBar" state="of a tool" height={84}>
        <OptionsBar tool={tool} values={{ group_by: 'program' }} />
      </Cell>
      <Cell part="FormButtons" state="ready and busy" height={140}>
        <div className="dialog">
          <FormButtons busy={false} verb="Save" onClose={nothing} />
        </div>
        <div className="dialog">
          <FormButtons busy verb="Delete" danger onClose={nothing} />
        </div>
      </Cell>
      <Cell part="ChartFrame" state="with a legend" height={132}>
        <ChartFrame title="An example of a chart" legend={<span>Busy, in percent</span>}>
          <svg width="220" height="64" role="img" aria-label="A line that rises">
            <path d="M2 62 L218 4" fill="none" stroke="currentColor" />
          </svg>
        </ChartFrame>
      </Cell>
      <Cell part="ChartMenu" state="closed" height={52}>
        <ChartMenu frame={noFrame} title="an example of a menu of a chart" />
      </Cell>
      <Cell part="Menu" state="closed" height={52}>
        <Menu label="Choose, an example of a menu" className="button" button={<>Choose<Icon name="chevron" /></>}>
          {(close) =>
            choices.map((one) => (
              <button key={one.value} type="button" role="menuitemradio" className="menu-item" aria-checked={one.value === chosen} onClick={() => { setChosen(one.value); close(); }}>
                {one.label}
              </button>
            ))
          }
        </Menu>
      </Cell>
      <Cell part="Layers" state="closed" height={52}>
        <div className="gallery-row">
          <button type="button" className="button" data-layer="dialog" onClick={() => setLayer('dialog')}>Open a dialog</button>
          <button type="button" className="button" data-layer="confirm" onClick={() => setLayer('confirm')}>Ask before an end</button>
          <button type="button" className="button" data-layer="toast" onClick={() => showToast({ tone: 'good', icon: 'complete', text: 'The capture of 15 hosts is here.', link: { to: '/gallery', text: 'Open session' } })}>Show a message</button>
        </div>
      </Cell>
      {layer === 'dialog' && (
        <Dialog title="Example of a dialog" onClose={() => setLayer(null)}>
          <div className="body">
            <Field label="Name">
              <input className="input" defaultValue="llama-8b-142" />
            </Field>
          </div>
        </Dialog>
      )}
      {layer === 'confirm' && <ConfirmDialog title="Delete this run" verb="Delete" failed="The run was not deleted." goes="its entry and its notes" stays="its profiles in the bucket" change={() => Promise.reject(fault)} onDone={nothing} onClose={() => setLayer(null)} />}
    </Section>
  );
}
