/** A panel with the layout, the groups and the order of a view. */
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import {
  type BoardSearch,
  type Grouping,
  groupings,
  layouts,
  type Sorting,
  sortings,
} from '../board/filter.ts';
import { Icon } from '../components/icons.tsx';
import { positionMenu } from '../components/menu.tsx';
import { storyViewTexts } from '../messages/story-views.ts';
import { arrangementOf } from './arrangement.ts';
import { densities, setDensity, useDensity } from './density.ts';
import { type TableColumn, tableColumns } from './table-columns.ts';

export interface DisplayMenuProps {
  /** The key of the project; null for all projects. */
  readonly projectKey: string | null;
  readonly search: BoardSearch;
  readonly onSearchChange: (search: BoardSearch) => void;
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly values: readonly Value[];
  readonly value: Value;
  readonly names: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
}

function SelectField<Value extends string>({ label, values, value, names, onChange }: ChoiceProps<Value>) {
  return (
    <label className="display-line">
      <span>{label}</span>
      <select className="field" value={value} onChange={({ target }) => onChange(target.value as Value)}>
        {values.map((one) => (
          <option key={one} value={one}>
            {names[one]}
          </option>
        ))}
      </select>
    </label>
  );
}

function Segments<Value extends string>({ label, values, value, names, onChange }: ChoiceProps<Value>) {
  return (
    <div className="segments" role="group" aria-label={label}>
      {values.map((one) => (
        <button
          key={one}
          type="button"
          className="tab"
          aria-pressed={one === value}
          onClick={() => onChange(one)}
        >
          {names[one]}
        </button>
      ))}
    </div>
  );
}

function ColumnChoices({
  columns,
  onChange,
}: {
  readonly columns: readonly TableColumn[];
  readonly onChange: (columns: readonly TableColumn[]) => void;
}) {
  return (
    <fieldset className="display-columns">
      <legend>{storyViewTexts.columns}</legend>
      {tableColumns.map((column) => {
        const isShown = columns.includes(column);
        return (
          <button
            key={column}
            type="button"
            aria-pressed={isShown}
            onClick={() => {
              const next = isShown ? columns.filter((one) => one !== column) : [...columns, column];
              if (next.length > 0) onChange(tableColumns.filter((one) => next.includes(one)));
            }}
          >
            {storyViewTexts.column[column]}
          </button>
        );
      })}
    </fieldset>
  );
}

function DisplayFields({ projectKey, search, onSearchChange }: DisplayMenuProps) {
  const isOfAllProjects = projectKey === null;
  const { layout, grouping, sorting, columns } = arrangementOf(search, isOfAllProjects);
  const density = useDensity();
  // The address names the layout, so that the saved view it came from no longer applies as a whole.
  const change = (next: BoardSearch): void => onSearchChange({ ...search, layout, ...next });
  const groupChoices = groupings.filter(
    (one) => (one !== 'project' || isOfAllProjects) && (one !== 'none' || layout !== 'board'),
  );
  return (
    <>
      <Segments
        label={storyViewTexts.layout}
        values={layouts}
        value={layout}
        names={storyViewTexts.layouts}
        onChange={(value) => change({ layout: value })}
      />
      <SelectField<Grouping>
        label={storyViewTexts.groupBy}
        values={groupChoices}
        value={grouping}
        names={storyViewTexts.groups}
        onChange={(group) => change({ group })}
      />
      <SelectField<Sorting>
        label={storyViewTexts.orderBy}
        values={sortings.filter((one) => one !== 'board' || !isOfAllProjects)}
        value={sorting}
        names={storyViewTexts.orders}
        onChange={(sort) => change({ sort })}
      />
      {layout === 'table' && (
        <ColumnChoices columns={columns} onChange={(next) => change({ columns: next })} />
      )}
      {layout !== 'board' && (
        <Segments
          label={storyViewTexts.density}
          values={densities}
          value={density}
          names={storyViewTexts.densities}
          onChange={setDensity}
        />
      )}
    </>
  );
}

interface PanelProps {
  readonly label: string;
  readonly anchor: () => HTMLElement | null;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A native popover at a button. It closes on Escape and on a click elsewhere. */
function Panel({ label, anchor, onClose, children }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  const latest = useRef({ anchor, onClose });
  latest.current = { anchor, onClose };
  useLayoutEffect(() => {
    const element = panel.current;
    if (element === null) return undefined;
    const onToggle = ({ newState }: ToggleEvent): void => {
      if (newState === 'closed') latest.current.onClose();
    };
    element.addEventListener('toggle', onToggle);
    element.showPopover();
    element.querySelector<HTMLElement>('button, select')?.focus();
    return () => element.removeEventListener('toggle', onToggle);
  }, []);
  // The panel grows when it shows more options.
  useLayoutEffect(() => {
    const at = latest.current.anchor()?.getBoundingClientRect();
    if (panel.current !== null && at !== undefined) positionMenu(panel.current, at);
  });
  return (
    <div ref={panel} popover="auto" className="menu display-panel" role="dialog" aria-label={label}>
      {children}
    </div>
  );
}

export function DisplayMenu(props: DisplayMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  return (
    <>
      <button
        ref={button}
        id={id}
        type="button"
        className="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        // The popover would close on pointerdown, and this click would open it again.
        onPointerDown={(event) => {
          if (isOpen) event.preventDefault();
        }}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="settings" size={14} />
        <span className="view-word">{storyViewTexts.display}</span>
      </button>
      {isOpen && (
        <Panel label={storyViewTexts.displayOf} anchor={() => button.current} onClose={() => setOpen(false)}>
          <DisplayFields {...props} />
        </Panel>
      )}
    </>
  );
}
