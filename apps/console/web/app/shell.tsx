/** The frame of every page: navigation, global keyboard shortcuts, dialogs and notices. */
import { useQuery } from '@tanstack/react-query';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useClient } from '../data/context.ts';
import { useCommands } from '../components/commands.ts';
import { projectsQuery } from '../data/queries.ts';
import { useWritableProjects } from '../data/roles.ts';
import { usePageShortcuts } from '../components/keys.ts';
import { lazyComponent, preload } from '../components/lazily.ts';
import { Notices } from '../components/notices.tsx';
import { QuestionDialog } from '../components/question-dialog.tsx';
import { useUndoKeys } from '../components/undo.ts';
import { t } from '../messages/index.ts';
import { Navigation, useCurrentPath } from './rail.tsx';
import { ConnectionBanner } from './wire.tsx';

const loadCommandPalette = () => import('./palette.tsx');
const CommandPalette = lazyComponent(loadCommandPalette);
const CreateStoryDialog = lazyComponent(() => import('./create-story.tsx'));
const KeyboardShortcutsDialog = lazyComponent(() => import('./help.tsx'));

/** Handles the keyboard shortcuts that open pages. */
function useNavigationShortcuts(showHelp: () => void, createStory: () => void): string | undefined {
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery(useClient()));
  const here = /^\/(?:p|s)\/([a-z][a-z\d]*)/i.exec(useCurrentPath())?.[1]?.toUpperCase();
  /** The project that was opened last. */
  const lastKey = useRef<string>(undefined);
  if (here !== undefined) lastKey.current = here;
  const goTo = (page: '' | '/epics' | '/health'): void => {
    const projectKey = lastKey.current ?? projects.data?.[0]?.key;
    if (projectKey !== undefined) void navigate({ to: `/p/$projectKey${page}`, params: { projectKey } });
  };
  usePageShortcuts({
    '?': showHelp,
    c: createStory,
    'g n': () => void navigate({ to: '/' }),
    'g i': () => void navigate({ to: '/inbox' }),
    'g w': () => void navigate({ to: '/agents' }),
    'g b': () => goTo(''),
    'g e': () => goTo('/epics'),
    'g h': () => goTo('/health'),
    'g a': () => void navigate({ to: '/activity' }),
    'g s': () => void navigate({ to: '/settings/$section', params: { section: 'members' } }),
  });
  return here ?? lastKey.current;
}

type OpenDialogName = 'palette' | 'create' | 'help';

export function AppShell() {
  const [open, setOpen] = useState<OpenDialogName | null>(null);
  const closed = (which: OpenDialogName): void => setOpen((last) => (last === which ? null : last));
  const openHelp = (): void => setOpen('help');
  const mayCreate = useWritableProjects().size > 0;
  const openCreate = (): void => {
    if (mayCreate) setOpen('create');
  };
  const projectKey = useNavigationShortcuts(openHelp, openCreate);
  useCommands(() => [
    ...(mayCreate ? [{ id: 'create', name: t.palette.create, run: openCreate }] : []),
    { id: 'help', name: t.wire.help, run: openHelp },
  ]);
  useUndoKeys();
  useEffect(() => preload(loadCommandPalette), []);
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      // The close event of a dialog fires a moment after it has closed.
      if (document.querySelector('dialog[open]') === null) setOpen('palette');
    };
    document.addEventListener('keydown', hear);
    return () => document.removeEventListener('keydown', hear);
  }, []);
  return (
    <div className="shell">
      <a className="skip button" data-kind="main" href="#main">
        {t.skip}
      </a>
      <Navigation
        onOpenHelp={openHelp}
        onOpenSearch={() => setOpen('palette')}
        onCreateStory={mayCreate ? openCreate : undefined}
      />
      <main id="main" className="main" tabIndex={-1}>
        <Outlet />
        <ConnectionBanner />
      </main>
      {open === 'palette' && <CommandPalette onClose={() => closed('palette')} />}
      {open === 'create' && <CreateStoryDialog projectKey={projectKey} onClose={() => closed('create')} />}
      {open === 'help' && <KeyboardShortcutsDialog onClose={() => closed('help')} />}
      <QuestionDialog />
      <Notices />
    </div>
  );
}
