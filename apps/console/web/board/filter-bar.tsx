import { type RefObject, useMemo, useState } from 'react';
import { type StoryCard } from '@muster/contract';
import { Icon, PriorityIcon, StatusIcon } from '../components/icons.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { Avatar } from '../components/people.tsx';
import { t } from '../messages/index.ts';
import {
  type BoardSearch,
  hasActiveFilters,
  priorityNames,
  statusNames,
  toggleValue,
  withoutFilters,
  workFilters,
  withFilter,
} from './filter.ts';

interface FilterBarProps {
  readonly cards: Iterable<StoryCard>;
  readonly search: BoardSearch;
  readonly onSearchChange: (search: BoardSearch) => void;
  readonly inputRef: RefObject<HTMLInputElement | null>;
  /** True if the stories are not in columns by their status. */
  readonly hasStatus?: boolean;
}

interface FilterChoices {
  readonly people: ReadonlyMap<string, { readonly name: string; readonly kind: 'member' | 'agent' }>;
  readonly labels: readonly string[];
}

/**
 * Returns the people and labels of the cards, and those of earlier cards: a filter that the API applies must not
 * remove its own alternatives.
 */
function useFilterChoices(cards: Iterable<StoryCard>): FilterChoices {
  const [{ people, labels }] = useState(() => ({
    people: new Map<string, { name: string; kind: 'member' | 'agent' }>(),
    labels: new Set<string>(),
  }));
  return useMemo(() => {
    for (const card of cards) {
      const { member, agent } = card.assignees;
      if (member !== null) people.set(member.id, { name: member.name, kind: 'member' });
      if (agent !== null) people.set(agent.id, { name: agent.name, kind: 'agent' });
      for (const label of card.labels) labels.add(label);
    }
    const byName = [...people].toSorted(([, one], [, other]) => one.name.localeCompare(other.name));
    return {
      people: new Map(byName),
      labels: [...labels].toSorted((one, other) => one.localeCompare(other)),
    };
  }, [cards, people, labels]);
}

type ListFilter = 'who' | 'label' | 'priority' | 'work' | 'status';
type FilterMenu = readonly [name: string, items: readonly MenuItem[], chosenCount: number];

/** Returns the menus of the filters that take several values. */
function filterMenus(
  { people, labels }: FilterChoices,
  { search, onSearchChange, hasStatus = false }: FilterBarProps,
): FilterMenu[] {
  const menu = (name: string, key: ListFilter, choices: readonly Omit<MenuItem, 'run'>[]): FilterMenu => {
    const chosen: readonly string[] = search[key] ?? [];
    const choose = (id: string): void => {
      onSearchChange(withFilter<BoardSearch, keyof BoardSearch>(search, key, toggleValue(chosen, id)));
    };
    const items = choices.map((choice) => ({
      ...{ ...choice, isChosen: chosen.includes(choice.id) },
      run: () => choose(choice.id),
    }));
    return [name, items, chosen.length];
  };
  const statuses = statusNames.map((id) => ({ id, name: t.status[id], icon: <StatusIcon status={id} /> }));
  return [
    ...(hasStatus ? [menu(t.filter.status, 'status', statuses)] : []),
    menu(t.filter.who, 'who', [
      { id: 'me', name: t.filter.me },
      { id: 'none', name: t.filter.none },
      ...[...people].map(([id, { name, kind }]) => ({
        ...{ id, name, icon: <Avatar name={name} kind={kind} /> },
      })),
    ]),
    menu(
      t.filter.labels,
      'label',
      labels.map((label) => ({ id: label, name: label })),
    ),
    menu(
      t.filter.priority,
      'priority',
      priorityNames.map((id) => ({ id, name: t.priority[id], icon: <PriorityIcon priority={id} /> })),
    ),
    menu(
      t.filter.state,
      'work',
      workFilters.map((id) => ({ id, name: t.filter.states[id] })),
    ),
  ];
}

export function FilterBar(props: FilterBarProps) {
  const { cards, search, onSearchChange, inputRef } = props;
  const choices = useFilterChoices(cards);
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
          onChange={({ target }) => onSearchChange(withFilter(search, 'q', target.value))}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
      </span>
      {filterMenus(choices, props)
        .filter(([, items]) => items.length > 0)
        .map(([name, items, count]) => (
          <Menu key={name} label={name} items={items} staysOpenAfterChoice className="button filter">
            {name}
            {count > 0 && <span className="filter-count">{count}</span>}
            <Icon name="down" size={12} />
          </Menu>
        ))}
      {hasActiveFilters(search) && (
        <button
          type="button"
          className="button"
          data-kind="quiet"
          onClick={() => onSearchChange(withoutFilters(search))}
        >
          {t.filter.clear}
        </button>
      )}
    </div>
  );
}
