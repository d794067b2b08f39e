// Options of a tool in the address: o.<name>=<value>; a value that is the default is left out.
import { useMemo } from 'react';
import { useLocation } from '../state/router';
import { pushKeys } from '../state/url';
import type { ToolInfo, ToolOption } from './types';

export const optionKey = (name: string) => 'o.' + name;

export function readOptions(search: string, tool: ToolInfo): Record<string, string> {
  const query = new URLSearchParams(search);
  const values: Record<string, string> = {};
  for (const option of tool.options) {
    const value = query.get(optionKey(option.name));
    if (value === null || value === option.defaultValue) continue;
    if (option.choices.length > 0 && !option.choices.includes(value)) continue;
    values[option.name] = value;
  }
  return values;
}

export function useOptions(tool: ToolInfo | null): Record<string, string> {
  const { search } = useLocation();
  return useMemo(() => (tool ? readOptions(search, tool) : {}), [search, tool]);
}

export function setOption(option: Pick<ToolOption, 'name' | 'defaultValue'>, value: string): void {
  pushKeys({ [optionKey(option.name)]: value === option.defaultValue ? null : value });
}
