// The line above a table: find, filters as chips, how many rows, columns, files.
import { type ReactNode, useRef, useState } from 'react';
import { formatCount, plural } from '../format/format';
import { keyLabel } from '../keys/table';
import { useKeys } from '../keys/useKeys';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import type { ShownColumn } from './columns';
import { distinctValues, type Filter, type Operator, operatorWords } from './rows';
import type { ToolTable } from './types';
import type { TableState } from './useTableState';

const mostChoices = 40; // A column with more different values is filtered by typing.

interface TableBarProps {
  table: ToolTable;
  state: TableState;
  exports?: ReactNode;
  note?: ReactNode;
}

export function TableBar({ table, state, exports, note }: TableBarProps) {
  const find = useRef<HTMLInputElement>(null);
  useKeys({ 'app.find': () => find.current?.focus() });
  const filtered = state.rows.length !== table.rows.length;
  const cut = table.totalRows > table.rows.length;
  return (
    <header className="table-bar">
      <h2>{table.title}</h2>
      <label className="filter">
        <input
          ref={find}
          className="input small"
          type="search"
          value={state.text}
          placeholder={`Find (${keyLabel('app.find')})`}
          aria-label={`Find in ${table.title}`}
          spellCheck={false}
          onChange={(event) => state.setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') {
              if (state.text) state.setText('');
              else find.current?.blur();
            } else if (event.key === 'Enter' || event.key === 'ArrowDown') {
              find.current?.blur();
              event.preventDefault();
            } else return;
            event.nativeEvent.stopImmediatePropagation();
          }}
        />
      </label>
      <AddFilter table={table} state={state} />
      {state.filters.map((filter, i) => (
        <FilterChip key={i} filter={filter} columns={state.all} onRemove={() => state.setFilters(state.filters.filter((_, at) => at !== i))} />
      ))}
      <span className="aside">
        {note}
        <span className="nowrap" role="status">
          {filtered ? `${formatCount(state.rows.length)} of ${plural(table.rows.length, 'row')}` : plural(table.rows.length, 'row')}
          {cut && <span className="warn"> (the first of {formatCount(table.totalRows)})</span>}
        </span>
        <ChooseColumns state={state} />
        {exports}
      </span>
    </header>
  );
}

function FilterChip({ filter, columns, onRemove }: { filter: Filter; columns: readonly ShownColumn[]; onRemove: () => void }) {
  const column = columns.find((one) => one.column.id === filter.column);
  const name = column?.label ?? filter.column;
  const words = `${name} ${operatorWords[filter.operator]} ${filter.value}`;
  return (
    <button type="button" className={column ? 'filter-chip' : 'filter-chip off'} title={column ? `Remove: ${words}` : `This table has no column "${filter.column}"`} onClick={onRemove}>
      <span className="truncate">
        {name} <span className="muted">{operatorWords[filter.operator]}</span> {filter.value}
      </span>
      <Icon name="close" />
    </button>
  );
}

function AddFilter({ table, state }: { table: ToolTable; state: TableState }) {
  const [column, setColumn] = useState<ShownColumn | null>(null);
  const add = (operator: Operator, value: string) => {
    if (column && value.trim() !== '') state.setFilters([...state.filters, { column: column.column.id, operator, value: value.trim() }]);
  };
  return (
    <Menu label="Add a filter" className="button plain small" onOpen={() => setColumn(null)} button={<>Filter<Icon name="chevron" /></>}>
      {(close) =>
        column === null ? (
          <>
            <div className="menu-title label">Filter by</div>
            {state.all
              .filter((one) => !one.empty)
              .map((one) => (
                <button key={one.column.id} type="button" className="menu-item" role="menuitem" onClick={() => setColumn(one)}>
                  {one.label}
                  <span className="end">{one.unitName}</span>
                </button>
              ))}
          </>
        ) : (
          <FilterValues
            table={table}
            column={column}
            onAdd={(operator, value) => {
              add(operator, value);
              close();
            }}
          />
        )
      }
    </Menu>
  );
}

function FilterValues({ table, column, onAdd }: { table: ToolTable; column: ShownColumn; onAdd: (operator: Operator, value: string) => void }) {
  const isNumber = column.kind !== 'text' && column.kind !== 'truth';
  const choices = isNumber ? null : distinctValues(table, column.index, mostChoices);
  const [value, setValue] = useState('');
  if (choices) {
    return (
      <>
        <div className="menu-title label">{column.label} is</div>
        {choices.map((choice) => (
          <button key={choice} type="button" className="menu-item" role="menuitem" onClick={() => onAdd('=', choice)}>
            <span className="truncate">{column.kind === 'truth' ? (choice === 'true' ? 'yes' : 'no') : choice}</span>
          </button>
        ))}
      </>
    );
  }
  const unit = column.column.unit && column.column.unit !== 'count' ? ` (${column.column.unit})` : '';
  return (
    <form
      className="filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        onAdd(isNumber ? '>' : '~', value);
      }}
    >
      <label>
        <span className="label">
          {column.label} {isNumber ? `at least${unit}` : 'contains'}
        </span>
        <input className="input" autoFocus value={value} inputMode={isNumber ? 'decimal' : 'text'} spellCheck={false} onChange={(event) => setValue(event.target.value)} />
      </label>
      <div className="filter-form-buttons">
        <button type="submit" className="button primary small">
          Add
        </button>
        <button type="button" className="button small" onClick={() => onAdd(isNumber ? '<' : '!', value)}>
          {isNumber ? 'At most' : 'Is not'}
        </button>
      </div>
    </form>
  );
}

function ChooseColumns({ state }: { state: TableState }) {
  const shownIds = state.shown.map((one) => one.column.id);
  const toggle = (id: string) => {
    // New columns take the place they have in the tool's own order.
    const next = shownIds.includes(id) ? shownIds.filter((one) => one !== id) : state.all.map((one) => one.column.id).filter((one) => one === id || shownIds.includes(one));
    if (next.length > 0) state.setColumns(next);
  };
  return (
    <Menu label="Choose columns" className="button plain small" align="right" button={<>Columns<Icon name="chevron" /></>}>
      {() => (
        <>
          <div className="menu-title label">
            {state.shown.length} of {state.all.length} columns
          </div>
          {state.chosenColumns && (
            <button type="button" className="menu-item" role="menuitem" onClick={() => state.setColumns(null)}>
              <Icon name="reload" />
              Back to the usual ones
            </button>
          )}
          {state.all.map((one) => (
            <button key={one.column.id} type="button" className="menu-item" role="menuitemcheckbox" aria-checked={shownIds.includes(one.column.id)} title={one.column.description || undefined} onClick={() => toggle(one.column.id)}>
              <span className="menu-check">{shownIds.includes(one.column.id) && <Icon name="check" />}</span>
              {one.label}
              <span className="end">{one.empty ? 'nothing in it' : one.unitName}</span>
            </button>
          ))}
        </>
      )}
    </Menu>
  );
}
