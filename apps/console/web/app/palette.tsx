/** A search field that leads to pages, boards, and search results. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useId, useState } from 'react';
import { useClient } from '../data/context.ts';
import { readCommands } from '../components/commands.ts';
import { projectsQuery } from '../data/queries.ts';
import { viewsQuery } from '../views/saved-views.ts';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { useMayConnectAgents, useMayCreateProjects } from '../settings/rights.ts';
import { t } from '../messages/index.ts';

interface PaletteChoice {
  readonly id: string;
  readonly name: string;
  readonly mark?: string;
  readonly run: () => void;
}

const minQueryLength = 2;

/** Returns pages and the boards of projects as choices. */
function usePageChoices(): PaletteChoice[] {
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery(useClient()));
  const mayMakeProjects = useMayCreateProjects();
  const mayConnectAgents = useMayConnectAgents();
  const go = (
    to:
      | '/'
      | '/start'
      | '/connect-agent'
      | '/new-project'
      | '/inbox'
      | '/stories'
      | '/agents'
      | '/activity'
      | '/usage',
    name: string,
  ): PaletteChoice => ({
    ...{ id: to, name },
    run: () => void navigate({ to }),
  });
  return [
    go('/', t.nav.myWork),
    go('/inbox', t.nav.inbox),
    go('/stories', t.nav.stories),
    go('/agents', t.nav.agents),
    go('/activity', t.nav.activity),
    go('/usage', t.nav.usage),
    {
      ...{ id: 'settings', name: t.nav.settings },
      run: () => void navigate({ to: '/settings/$section', params: { section: 'members' } }),
    },
    ...(mayMakeProjects ? [go('/new-project', t.nav.newProject)] : []),
    ...(mayConnectAgents ? [go('/connect-agent', t.nav.connectAgent), go('/start', t.nav.start)] : []),
    ...(projects.data ?? []).map(({ id, key, name }) => ({
      ...{ id, name, mark: key },
      run: () => void navigate({ to: '/p/$projectKey', params: { projectKey: key } }),
    })),
  ];
}

/** Returns the saved views as choices. */
function useViewChoices(): PaletteChoice[] {
  const client = useClient();
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery(client));
  const views = useQuery({ ...viewsQuery(client), staleTime: 0 });
  return (views.data ?? []).flatMap(({ id, name, projectId }) => {
    const choice = { id: `view ${id}`, name: t.palette.view(name) };
    if (projectId === null)
      return [{ ...choice, run: () => void navigate({ to: '/stories', search: { view: id } }) }];
    const key = projects.data?.find((project) => project.id === projectId)?.key;
    if (key === undefined) return [];
    const params = { projectKey: key };
    return [
      {
        ...{ ...choice, mark: key },
        run: () => void navigate({ to: '/p/$projectKey', params, search: { view: id } }),
      },
    ];
  });
}

/** Searches stories for the typed text, and returns the results as choices of the palette. */
function useStoryChoices(searchText: string): {
  readonly stories: PaletteChoice[];
  readonly isLooking: boolean;
} {
  const client = useClient();
  const navigate = useNavigate();
  const query = useDeferredValue(searchText);
  const found = useQuery({
    queryKey: ['found', query],
    queryFn: async () => (await client.search.find({ query, kinds: ['story'], limit: 12 })).items,
    enabled: query.length >= minQueryLength,
    staleTime: 5_000,
  });
  // Results for an earlier search text are not offered. Otherwise Enter could open a story that does not
  // match the current text.
  const items = query === searchText && query.length >= minQueryLength ? (found.data ?? []) : [];
  return {
    stories: items.flatMap(({ id, key, title }) =>
      key === null
        ? []
        : [
            {
              ...{ id, name: title, mark: key },
              run: () => void navigate({ to: '/s/$storyKey', params: { storyKey: key } }),
            },
          ],
    ),
    isLooking: query !== searchText || found.isFetching,
  };
}

export default function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const listId = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const wanted = text.trim();
  const { stories, isLooking } = useStoryChoices(wanted);
  // Read once, because the dialog takes the focus from the page.
  const [commands] = useState(readCommands);
  const fits = [...commands, ...usePageChoices(), ...useViewChoices()].filter(({ name, mark }) =>
    `${mark ?? ''} ${name}`.toLocaleLowerCase().includes(wanted.toLocaleLowerCase()),
  );
  const choices: readonly PaletteChoice[] = [...fits, ...stories];
  const chosen = Math.min(at, Math.max(0, choices.length - 1));
  useEffect(() => {
    document.getElementById(`${listId}-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [listId, chosen]);
  const take = (choice: PaletteChoice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    choice.run();
  };
  return (
    <Dialog label={t.palette.title} position="top" onClose={onClose}>
      <div className="palette-field">
        <Icon name="search" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={choices.length === 0 ? undefined : `${listId}-${chosen}`}
          aria-label={t.palette.title}
          placeholder={t.palette.hint}
          value={text}
          autoFocus
          onChange={({ target }) => {
            setText(target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') setAt(Math.min(choices.length - 1, chosen + 1));
            else if (event.key === 'ArrowUp') setAt(Math.max(0, chosen - 1));
            else if (event.key === 'Enter') take(choices[chosen]);
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <ul id={listId} className="palette-list" role="listbox" aria-label={t.palette.results}>
        {choices.map((choice, index) => (
          <li
            key={choice.id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className="menu-item"
            onPointerMove={() => setAt(index)}
            onClick={() => take(choice)}
          >
            {choice.mark !== undefined && <span className="key">{choice.mark}</span>}
            <span className="cut">{choice.name}</span>
          </li>
        ))}
      </ul>
      {choices.length === 0 && !isLooking && <p className="column-empty">{t.palette.none}</p>}
    </Dialog>
  );
}
