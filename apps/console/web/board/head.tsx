/** The header of a board: its name, its filters, and links to the other pages of the project. */
import { useNavigate } from '@tanstack/react-router';
import { type RefObject } from 'react';
import { type Project, type StoryCard } from '@muster/contract';
import { Icon } from '../components/icons.tsx';
import { lazyComponent } from '../components/lazily.ts';
import { Menu } from '../components/menu.tsx';
import { t } from '../messages/index.ts';
import { type BoardSearch, isPlainBoard } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';

const ViewControls = lazyComponent(
  () => import('../views/view-controls.tsx'),
  () => <span className="view-controls" />,
);

interface BoardHeadProps {
  readonly project: Project | null;
  readonly cards: readonly StoryCard[];
  readonly search: BoardSearch;
  readonly filterInputRef: RefObject<HTMLInputElement | null>;
  readonly isMoving: boolean;
}

export function BoardHead({ project, cards, search, filterInputRef, isMoving }: BoardHeadProps) {
  const navigate = useNavigate({ from: '/p/$projectKey' });
  const onSearchChange = (next: BoardSearch): void => void navigate({ search: next, replace: true });
  const open = (page: 'epics' | 'waves' | 'plans' | 'health' | 'locks' | 'settings/people') => () =>
    void navigate({ to: `/p/${project?.key ?? ''}/${page}` });
  return (
    <>
      <header className="page-head">
        <h1>{project?.name ?? t.board.loading}</h1>
        {isMoving && <span className="move-hint">{t.move.hint}</span>}
        <span className="grow" />
        <FilterBar
          cards={cards}
          search={search}
          inputRef={filterInputRef}
          hasStatus={!isPlainBoard(search)}
          onSearchChange={onSearchChange}
        />
        {project !== null && <ViewControls projectKey={project.key} {...{ search, onSearchChange }} />}
        {project !== null && (
          <Menu
            label={t.board.menu}
            className="icon-button"
            items={[
              { id: 'epics', name: t.board.epics, run: open('epics') },
              { id: 'waves', name: t.board.waves, run: open('waves') },
              { id: 'plans', name: t.board.plans, run: open('plans') },
              { id: 'health', name: t.board.health, run: open('health') },
              { id: 'locks', name: t.board.locks, run: open('locks') },
              {
                id: 'activity',
                name: t.nav.activity,
                run: () => void navigate({ to: '/activity', search: { project: project.key } }),
              },
              { id: 'settings', name: t.board.settings, run: open('settings/people') },
            ]}
          >
            <Icon name="more" />
          </Menu>
        )}
      </header>
      {project?.archivedAt != null && <p className="banner">{t.board.archived}</p>}
    </>
  );
}
