// The options of a tool as controls, made from the registry: choices as a select, truths as a switch, the rest as fields.
import { useEffect, useState } from 'react';
import { Select } from '../ui/states';
import { optionKey, setOption } from './options';
import { pushKeys } from '../state/url';
import type { ToolInfo, ToolOption } from './types';

// Options that only say how XProf's own page wants its answer.
const hidden = new Set(['use_saved_result', 'format', 'tqx', 'names_only', 'perfetto', 'view_memory_allocation_timeline', 'graph_html_options']);

export function optionLabel(name: string): string {
  const words = name.replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface OptionsBarProps {
  tool: ToolInfo;
  values: Readonly<Record<string, string>>;
  skip?: readonly string[]; // A page of its own has a better control for these.
}

export function OptionsBar({ tool, values, skip = [] }: OptionsBarProps) {
  const shown = tool.options.filter((option) => !hidden.has(option.name) && !skip.includes(option.name));
  if (shown.length === 0) return null;
  const changed = Object.keys(values).some((name) => shown.some((option) => option.name === name));
  return (
    <div className="options-bar" role="group" aria-label={`Options of ${tool.title}`}>
      {shown.map((option) => (
        <OptionControl key={option.name} option={option} value={values[option.name] ?? option.defaultValue} />
      ))}
      {changed && (
        <button type="button" className="button plain small" onClick={() => pushKeys(Object.fromEntries(shown.map((option) => [optionKey(option.name), null])))}>
          Defaults
        </button>
      )}
    </div>
  );
}

function OptionControl({ option, value }: { option: ToolOption; value: string }) {
  const label = optionLabel(option.name);
  if (option.type === 'boolean') {
    const on = value === 'true' || value === '1';
    return (
      <label className="option check" title={option.description || undefined}>
        <input type="checkbox" checked={on} onChange={() => setOption(option, on ? 'false' : 'true')} />
        {label}
      </label>
    );
  }
  if (option.choices.length > 0) {
    return (
      <label className="option" title={option.description || undefined}>
        <span className="label">{label}</span>
        <Select value={value} choices={option.choices.map((choice) => ({ value: choice, label: choice === '' ? 'default' : choice.replace(/_/g, ' ') }))} onChange={(next) => setOption(option, next)} />
      </label>
    );
  }
  return <OptionField option={option} value={value} label={label} />;
}

function OptionField({ option, value, label }: { option: ToolOption; value: string; label: string }) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  const commit = () => draft !== value && setOption(option, draft.trim());
  const isNumber = option.type === 'integer' || option.type === 'number';
  return (
    <label className="option" title={option.description || undefined}>
      <span className="label">{label}</span>
      <input
        className={isNumber ? 'input narrow' : 'input'}
        value={draft}
        inputMode={isNumber ? 'decimal' : 'text'}
        placeholder={option.defaultValue || 'any'}
        spellCheck={false}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
      />
    </label>
  );
}
