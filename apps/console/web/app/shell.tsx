/** The frame of every page: where one can go, how the wire is, who is looking. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useConsole, useIdentity, useWire } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { useNow } from '../parts/clock.tsx';
import { Icon, type IconName, Mark } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { Notices } from '../parts/notices.tsx';
import { Avatar } from '../parts/people.tsx';
import { t } from '../texts/index.ts';
import { setTheme, type Theme, themeNow, themes } from './theme.ts';

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

function WireState() {
  const wire = useWire();
  const now = useNow();
  const text =
    wire.state === 'lost'
      ? t.wire.lost(Math.max(0, Math.round((now - wire.since) / 1_000)))
      : wire.state === 'live'
        ? t.wire.live
        : t.wire.opening;
  return (
    <div className="wire" data-state={wire.state} title={text}>
      <span className="state" data-tone={wire.state === 'live' ? 'good' : 'wait'}>
        <span className="pulse" data-state={wire.state} />
      </span>
      <span className="word">{text}</span>
    </div>
  );
}

function Foot() {
  const { signOut } = useConsole();
  const { member, agent, org } = useIdentity();
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
      </div>
    </div>
  );
}

export function Shell() {
  const { session } = useConsole();
  const { org } = session.identity;
  const projects = useQuery(projectsQuery(session.client));
  return (
    <div className="shell">
      <a className="skip button" data-kind="main" href="#main">
        {t.skip}
      </a>
      <nav className="rail" aria-label={t.nav.main}>
        <div className="rail-org">
          <Mark />
          <span className="word cut">{org.name}</span>
        </div>
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
          </ul>
        </div>
        <Foot />
      </nav>
      <main id="main" className="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Notices />
    </div>
  );
}
