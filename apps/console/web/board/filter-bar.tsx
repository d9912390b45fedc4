import { type RefObject, useMemo } from 'react';
import { type StoryCard } from '@muster/registry';
import { Icon, PriorityIcon } from '../components/icons.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { Avatar } from '../components/people.tsx';
import { t } from '../messages/index.ts';
import { type BoardSearch, hasActiveFilters, priorityNames, toggleValue, workFilters } from './filter.ts';

interface FilterBarProps {
  readonly cards: Iterable<StoryCard>;
  readonly search: BoardSearch;
  readonly onSearchChange: (search: BoardSearch) => void;
  readonly inputRef: RefObject<HTMLInputElement | null>;
}

interface FilterChoices {
  readonly people: ReadonlyMap<string, { readonly name: string; readonly kind: 'member' | 'agent' }>;
  readonly labels: readonly string[];
}

/** Collects the people and labels that occur on the board. */
function collectFilterChoices(cards: Iterable<StoryCard>): FilterChoices {
  const who = new Map<string, { name: string; kind: 'member' | 'agent' }>();
  const labels = new Set<string>();
  for (const card of cards) {
    const { member, agent } = card.assignees;
    if (member !== null) who.set(member.id, { name: member.name, kind: 'member' });
    if (agent !== null) who.set(agent.id, { name: agent.name, kind: 'agent' });
    for (const label of card.labels) labels.add(label);
  }
  const byName = [...who].toSorted(([, one], [, other]) => one.name.localeCompare(other.name));
  return { people: new Map(byName), labels: [...labels].toSorted((one, other) => one.localeCompare(other)) };
}

const withoutFilter = (search: BoardSearch, key: keyof BoardSearch): BoardSearch =>
  Object.fromEntries(Object.entries(search).filter(([name]) => name !== key));

export function FilterBar({ cards, search, onSearchChange, inputRef }: FilterBarProps) {
  const choices = useMemo(() => collectFilterChoices(cards), [cards]);
  const choose = <Key extends 'who' | 'label' | 'priority' | 'work'>(
    key: Key,
    value: NonNullable<BoardSearch[Key]>[number],
  ): void => {
    const list = toggleValue(search[key] as readonly unknown[] | undefined, value);
    onSearchChange(list === undefined ? withoutFilter(search, key) : { ...search, [key]: list });
  };
  const who: MenuItem[] = [
    {
      ...{ id: 'none', name: t.filter.none, isChosen: search.who?.includes('none') === true },
      run: () => choose('who', 'none'),
    },
    ...[...choices.people].map(([id, { name, kind }]) => ({
      ...{ id, name, icon: <Avatar name={name} kind={kind} />, isChosen: search.who?.includes(id) === true },
      run: () => choose('who', id),
    })),
  ];
  const labels = choices.labels.map((label) => ({
    ...{ id: label, name: label, isChosen: search.label?.includes(label) === true },
    run: () => choose('label', label),
  }));
  const priorities = priorityNames.map((priority) => ({
    ...{ id: priority, name: t.priority[priority], icon: <PriorityIcon priority={priority} /> },
    isChosen: search.priority?.includes(priority) === true,
    run: () => choose('priority', priority),
  }));
  const work = workFilters.map((one) => ({
    ...{ id: one, name: t.filter.states[one], isChosen: search.work?.includes(one) === true },
    run: () => choose('work', one),
  }));
  const menus: [string, readonly MenuItem[], number][] = [
    [t.filter.who, who, search.who?.length ?? 0],
    [t.filter.labels, labels, search.label?.length ?? 0],
    [t.filter.priority, priorities, search.priority?.length ?? 0],
    [t.filter.state, work, search.work?.length ?? 0],
  ];
  return (
    <div className="filters" role="search">
      <span className="filter-text">
        <Icon name="search" size={14} />
        <input
          ref={inputRef}
          className="field"
          type="search"
          value={search.q ?? ''}
          aria-label={t.filter.label}
          placeholder={t.filter.placeholder}
          onChange={({ target }) =>
            onSearchChange(target.value === '' ? withoutFilter(search, 'q') : { ...search, q: target.value })
          }
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
      </span>
      {menus
        .filter(([, items]) => items.length > 0)
        .map(([name, items, count]) => (
          <Menu key={name} label={name} items={items} staysOpenAfterChoice className="button filter">
            {name}
            {count > 0 && <span className="filter-count">{count}</span>}
            <Icon name="down" size={12} />
          </Menu>
        ))}
      {hasActiveFilters(search) && (
        <button type="button" className="button" data-kind="quiet" onClick={() => onSearchChange({})}>
          {t.filter.clear}
        </button>
      )}
    </div>
  );
}
