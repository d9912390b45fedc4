/** The frame of every page: where one can go, how the wire is, who is looking. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { useClient, useConsole, useWire } from '../data/context.ts';
import { orgQuery, projectsQuery, unreadQuery } from '../data/queries.ts';
import { switchOrganization } from '../data/sign-in.ts';
import { useNow } from '../parts/clock.tsx';
import { Icon, type IconName, Mark } from '../parts/icons.tsx';
import { usePageKeys } from '../parts/keys.ts';
import { lazily } from '../parts/lazily.ts';
import { Menu } from '../parts/menu.tsx';
import { announceQuietly, Notices } from '../parts/notices.tsx';
import { Avatar } from '../parts/people.tsx';
import { QuestionDialog } from '../parts/question-dialog.tsx';
import { useMayMakeProjects } from '../settings/rights.ts';
import { t } from '../texts/index.ts';
import { Palette } from './palette.tsx';
import { setTheme, type Theme, themeNow, themes } from './theme.ts';

const Help = lazily(() => import('./help.tsx'));

const Entry = ({
  icon,
  name,
  count,
  mark,
}: {
  readonly icon?: IconName;
  readonly name: string;
  readonly count?: ReactNode;
  readonly mark?: string;
}) => (
  <>
    {icon === undefined ? (
      <span className="key" aria-hidden="true">
        {mark}
      </span>
    ) : (
      <Icon name={icon} />
    )}
    <span className="word cut">{name}</span>
    {count}
  </>
);

const Place = ({
  to,
  icon,
  name,
  count = 0,
}: {
  readonly to: '/' | '/inbox' | '/agents' | '/activity';
  readonly icon: IconName;
  readonly name: string;
  readonly count?: number;
}) => (
  <li>
    <Link
      to={to}
      className="rail-link"
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      <Entry
        icon={icon}
        name={name}
        count={
          count > 0 && (
            <span className="count">
              <span aria-hidden="true">{count.toLocaleString()}</span>
              <span className="sr-only">{t.nav.unread(count)}</span>
            </span>
          )
        }
      />
    </Link>
  </li>
);

function useWireText(): string {
  const wire = useWire();
  const now = useNow();
  return wire.state === 'lost'
    ? t.wire.lost(Math.max(0, Math.round((now - wire.since) / 1_000)))
    : t.wire[wire.state];
}

function WireState() {
  const { state } = useWire();
  const text = useWireText();
  return (
    <div className="wire" data-state={state} title={text}>
      <span className="state" data-tone={state === 'live' ? 'good' : 'wait'}>
        <span className="pulse" data-state={state} />
      </span>
      <span className="word">{text}</span>
    </div>
  );
}

/** Where the rail has no room for words: that what is shown may be old. */
function WireLine() {
  const { state } = useWire();
  const text = useWireText();
  const isBehind = state === 'lost' || state === 'crowded';
  const wasBehind = useRef(false);
  useEffect(() => {
    if (isBehind || wasBehind.current) announceQuietly(isBehind ? t.wire.behind : t.wire.caughtUp);
    wasBehind.current = isBehind;
  }, [isBehind]);
  return isBehind ? (
    <p className="wire-line" data-state={state}>
      {text}
    </p>
  ) : null;
}

function Foot({ onHelp }: { readonly onHelp: () => void }) {
  const { session, signOut } = useConsole();
  const { member, agent } = session.identity;
  const { data: org } = useQuery(orgQuery(session));
  const [theme, choose] = useState<Theme>(themeNow);
  return (
    <div className="rail-foot">
      <WireState />
      <div className="rail-me">
        <Menu
          label={agent?.name ?? member.name}
          className="icon-button"
          items={[
            ...themes.map((one) => ({
              ...{ id: one, name: `${t.wire.theme}: ${t.wire.themes[one]}`, isChosen: theme === one },
              run: () => {
                setTheme(one);
                choose(one);
              },
            })),
            { id: 'leave', name: t.wire.signOut, icon: <Icon name="leave" />, run: signOut },
          ]}
        >
          <Avatar name={agent?.name ?? member.name} kind={agent === null ? 'member' : 'agent'} />
        </Menu>
        <span className="word grow cut">
          {agent?.name ?? member.name}
          <span className="sr-only">, {org.name}</span>
        </span>
        <button type="button" className="icon-button rail-help" aria-label={t.wire.help} onClick={onHelp}>
          <Icon name="help" />
        </button>
      </div>
    </div>
  );
}

/** Where one is; a choice for whoever is in several. */
function OrganizationPart() {
  const { session } = useConsole();
  const organizations = session.signedIn?.organizations ?? [];
  const { data: org } = useQuery(orgQuery(session));
  if (organizations.length < 2)
    return (
      <div className="rail-org">
        <Mark />
        <span className="word cut">{org.name}</span>
      </div>
    );
  return (
    <Menu
      label={`${t.wire.organizations}: ${org.name}`}
      className="rail-org rail-choice"
      items={organizations.map((one) => ({
        ...{ id: one.id, name: one.id === org.id ? org.name : one.name, isChosen: one.id === org.id },
        run: () => switchOrganization(one),
      }))}
    >
      <Mark />
      <span className="word cut grow">{org.name}</span>
      <Icon name="down" size={14} />
    </Menu>
  );
}

const usePath = (): string => useRouterState({ select: ({ location }) => location.pathname });

/** Where one can go. */
function Rail({ onHelp }: { readonly onHelp: () => void }) {
  const { client, identity } = useConsole().session;
  const isMember = identity.agent === null;
  const unread = useQuery({ ...unreadQuery(client), enabled: isMember });
  const projects = useQuery(projectsQuery(client));
  const mayMakeProjects = useMayMakeProjects();
  const rail = useRef<HTMLElement>(null);
  const path = usePath();
  // Where the rail is one line, the page that one is on may be beyond its end.
  useEffect(() => {
    rail.current
      ?.querySelector('[aria-current="page"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
  }, [path, projects.data]);
  return (
    <nav ref={rail} className="rail" aria-label={t.nav.main}>
      <OrganizationPart />
      <div className="rail-places">
        <ul>
          <Place to="/" icon="now" name={t.nav.now} />
          {isMember && <Place to="/inbox" icon="inbox" name={t.nav.inbox} count={unread.data ?? 0} />}
          <Place to="/agents" icon="agents" name={t.nav.agents} />
          <Place to="/activity" icon="activity" name={t.nav.activity} />
          <li>
            <Link
              to="/settings/$section"
              params={{ section: 'members' }}
              className="rail-link"
              aria-current={path.startsWith('/settings/') ? 'page' : undefined}
            >
              <Entry icon="settings" name={t.nav.settings} />
            </Link>
          </li>
        </ul>
        <div>
          <h2 className="rail-title">{t.nav.boards}</h2>
          <ul>
            {projects.data?.map((project) => (
              <li key={project.id}>
                <Link
                  to="/p/$projectKey"
                  params={{ projectKey: project.key }}
                  className="rail-link"
                  activeProps={{ 'aria-current': 'page' }}
                  activeOptions={{ includeSearch: false }}
                >
                  <Entry name={project.name} mark={project.key} />
                </Link>
              </li>
            ))}
            {projects.data?.length === 0 && <li className="rail-title">{t.nav.noBoards}</li>}
            {mayMakeProjects && (
              <li>
                <Link to="/new-project" className="rail-link" activeProps={{ 'aria-current': 'page' }}>
                  <Entry icon="plus" name={t.nav.newProject} />
                </Link>
              </li>
            )}
          </ul>
        </div>
      </div>
      <Foot onHelp={onHelp} />
    </nav>
  );
}

/** Keys that lead to a page from every other. */
function usePlaceKeys(onHelp: () => void): void {
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery(useClient()));
  const here = /^\/(?:p|s)\/([a-z][a-z\d]*)/i.exec(usePath())?.[1]?.toUpperCase();
  /** The project that one was at last. */
  const lastKey = useRef<string>(undefined);
  if (here !== undefined) lastKey.current = here;
  const goTo = (page: '' | '/epics' | '/health'): void => {
    const projectKey = lastKey.current ?? projects.data?.[0]?.key;
    if (projectKey !== undefined) void navigate({ to: `/p/$projectKey${page}`, params: { projectKey } });
  };
  usePageKeys({
    '?': onHelp,
    'g n': () => void navigate({ to: '/' }),
    'g i': () => void navigate({ to: '/inbox' }),
    'g w': () => void navigate({ to: '/agents' }),
    'g b': () => goTo(''),
    'g e': () => goTo('/epics'),
    'g h': () => goTo('/health'),
    'g a': () => void navigate({ to: '/activity' }),
    'g s': () => void navigate({ to: '/settings/$section', params: { section: 'members' } }),
  });
}

export function Shell() {
  const [open, setOpen] = useState<'palette' | 'help' | null>(null);
  const closed = (which: 'palette' | 'help'): void => setOpen((last) => (last === which ? null : last));
  const openHelp = (): void => setOpen('help');
  usePlaceKeys(openHelp);
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      // A dialog tells that it is closed a moment after it is.
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
      <Rail onHelp={openHelp} />
      <main id="main" className="main" tabIndex={-1}>
        <Outlet />
        <WireLine />
      </main>
      {open === 'palette' && <Palette onClose={() => closed('palette')} />}
      {open === 'help' && (
        <Suspense fallback={null}>
          <Help onClose={() => closed('help')} />
        </Suspense>
      )}
      <QuestionDialog />
      <Notices />
    </div>
  );
}
