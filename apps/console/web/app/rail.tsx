/**
 * The navigation of every page: a rail at the side. On a phone it is a bar of four links with a sheet for the
 * rest.
 */
import { useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { useConsole, useStreamConnection } from '../data/context.ts';
import { orgQuery, projectsQuery, unreadCountQuery } from '../data/queries.ts';
import { switchOrganization } from '../data/sign-in.ts';
import { Dialog } from '../components/dialog.tsx';
import { Icon, type IconName, Logo } from '../components/icons.tsx';
import { Menu } from '../components/menu.tsx';
import { Avatar } from '../components/people.tsx';
import { useMayCreateProjects } from '../settings/rights.ts';
import { useStartState } from '../start/start-state.ts';
import { t } from '../messages/index.ts';
import { setTheme, type Theme, readStoredTheme, themes } from './theme.ts';
import { ConnectionState } from './wire.tsx';

interface NavLabelProps {
  readonly icon?: IconName;
  readonly name: string;
  readonly count?: ReactNode;
  readonly keyLabel?: string;
}

const NavLabel = ({ icon, name, count, keyLabel }: NavLabelProps) => (
  <>
    {icon === undefined ? (
      <span className="key" aria-hidden="true">
        {keyLabel}
      </span>
    ) : (
      <Icon name={icon} />
    )}
    <span className="word cut">{name}</span>
    {count}
  </>
);

interface NavLinkProps {
  readonly to: '/' | '/start' | '/inbox' | '/stories' | '/agents' | '/activity' | '/usage';
  readonly icon: IconName;
  readonly name: string;
  readonly count?: number;
}

const NavLink = ({ to, icon, name, count = 0 }: NavLinkProps) => (
  <li>
    <Link
      to={to}
      className="rail-link"
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      <NavLabel
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

function RailFooter({ onHelp }: { readonly onHelp: () => void }) {
  const { session, signOut } = useConsole();
  const { member, agent } = session.identity;
  const { data: org } = useQuery(orgQuery(session));
  const [theme, choose] = useState<Theme>(readStoredTheme);
  return (
    <div className="rail-foot">
      <ConnectionState />
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

/** Shows the organization; members of several get a menu. */
function OrganizationSwitcher() {
  const { session } = useConsole();
  const organizations = session.signedIn?.organizations ?? [];
  const { data: org } = useQuery(orgQuery(session));
  if (organizations.length < 2)
    return (
      <div className="rail-org">
        <Logo />
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
      <Logo />
      <span className="word cut grow">{org.name}</span>
      <Icon name="down" size={14} />
    </Menu>
  );
}

export const useCurrentPath = (): string => useRouterState({ select: ({ location }) => location.pathname });

function SettingsLink() {
  const path = useCurrentPath();
  return (
    <li>
      <Link
        to="/settings/$section"
        params={{ section: 'members' }}
        className="rail-link"
        aria-current={path.startsWith('/settings/') ? 'page' : undefined}
      >
        <NavLabel icon="settings" name={t.nav.settings} />
      </Link>
    </li>
  );
}

/** Leads back to the first run until its steps are done. */
const StartLink = () =>
  useStartState().isListed === true && <NavLink to="/start" icon="tick" name={t.nav.start} />;

function BoardLinks() {
  const projects = useQuery(projectsQuery(useConsole().session.client));
  const mayMakeProjects = useMayCreateProjects();
  return (
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
            <NavLabel name={project.name} keyLabel={project.key} />
          </Link>
        </li>
      ))}
      {projects.data?.length === 0 && <li className="rail-title">{t.nav.noBoards}</li>}
      {mayMakeProjects && (
        <li>
          <Link to="/new-project" className="rail-link" activeProps={{ 'aria-current': 'page' }}>
            <NavLabel icon="plus" name={t.nav.newProject} />
          </Link>
        </li>
      )}
    </ul>
  );
}

/** Returns the number of unread notifications; null for agents, which have no inbox. */
function useUnreadCount(): number | null {
  const { client, identity } = useConsole().session;
  const isMember = identity.agent === null;
  const unread = useQuery({ ...unreadCountQuery(client), enabled: isMember });
  return isMember ? (unread.data ?? 0) : null;
}

interface NavigationProps {
  readonly onOpenHelp: () => void;
  readonly onOpenSearch: () => void;
  /** Undefined if the viewer may create no stories. */
  readonly onCreateStory: (() => void) | undefined;
}

interface ActionLinksProps extends Omit<NavigationProps, 'onOpenHelp'> {
  /** Runs before an action opens its dialog. */
  readonly onChoose?: () => void;
}

/** Opens the dialogs that work on every page. */
function ActionLinks({ onOpenSearch, onCreateStory, onChoose }: ActionLinksProps) {
  const action = (icon: IconName, name: string, open: () => void) => (
    <li>
      <button
        type="button"
        className="rail-link"
        aria-haspopup="dialog"
        title={name}
        onClick={() => {
          onChoose?.();
          open();
        }}
      >
        <NavLabel icon={icon} name={name} />
      </button>
    </li>
  );
  return (
    <>
      {onCreateStory !== undefined && action('plus', t.palette.create, onCreateStory)}
      {action('search', t.nav.search, onOpenSearch)}
    </>
  );
}

function SideRail({ onOpenHelp, ...actions }: NavigationProps) {
  const unread = useUnreadCount();
  return (
    <nav className="rail" aria-label={t.nav.main}>
      <OrganizationSwitcher />
      <div className="rail-places">
        <ul>
          <ActionLinks {...actions} />
          <StartLink />
          <NavLink to="/" icon="myWork" name={t.nav.myWork} />
          {unread !== null && <NavLink to="/inbox" icon="inbox" name={t.nav.inbox} count={unread} />}
          <NavLink to="/stories" icon="list" name={t.nav.stories} />
          <NavLink to="/agents" icon="agents" name={t.nav.agents} />
          <NavLink to="/activity" icon="activity" name={t.nav.activity} />
          <NavLink to="/usage" icon="usage" name={t.nav.usage} />
          <SettingsLink />
        </ul>
        <div>
          <h2 className="rail-title">{t.nav.boards}</h2>
          <BoardLinks />
        </div>
      </div>
      <RailFooter onHelp={onOpenHelp} />
    </nav>
  );
}

function PhoneBar({ onOpenHelp, ...actions }: NavigationProps) {
  const unread = useUnreadCount();
  const path = useCurrentPath();
  /** The path of the page on which the sheet was opened. On any other page the sheet is closed. */
  const [openOn, setOpenOn] = useState<string | null>(null);
  const wire = useStreamConnection();
  return (
    <nav className="phone-bar" aria-label={t.nav.main} data-state={wire.state}>
      <ul>
        <NavLink to="/" icon="myWork" name={t.nav.myWork} />
        {unread !== null && <NavLink to="/inbox" icon="inbox" name={t.nav.inbox} count={unread} />}
        <NavLink to="/agents" icon="agents" name={t.nav.agentsShort} />
        <li>
          <button
            type="button"
            className="rail-link"
            aria-haspopup="dialog"
            aria-current={path.startsWith('/p/') ? 'true' : undefined}
            onClick={() => setOpenOn(path)}
          >
            <NavLabel icon="boards" name={t.nav.menu} />
          </button>
        </li>
      </ul>
      {openOn === path && (
        <Dialog label={t.nav.menu} position="bottom" onClose={() => setOpenOn(null)}>
          <div className="sheet">
            <h2>{t.nav.boards}</h2>
            <BoardLinks />
            <ul className="sheet-more">
              <ActionLinks {...actions} onChoose={() => setOpenOn(null)} />
              <StartLink />
              <NavLink to="/stories" icon="list" name={t.nav.stories} />
              <NavLink to="/activity" icon="activity" name={t.nav.activity} />
              <NavLink to="/usage" icon="usage" name={t.nav.usage} />
              <SettingsLink />
            </ul>
            <OrganizationSwitcher />
            <RailFooter onHelp={onOpenHelp} />
          </div>
        </Dialog>
      )}
    </nav>
  );
}

const phoneMediaQuery = matchMedia('(max-width: 40rem)');
const subscribeToPhoneMediaQuery = (onChange: () => void): (() => void) => {
  phoneMediaQuery.addEventListener('change', onChange);
  return () => phoneMediaQuery.removeEventListener('change', onChange);
};

export function Navigation(props: NavigationProps) {
  const isPhone = useSyncExternalStore(subscribeToPhoneMediaQuery, () => phoneMediaQuery.matches);
  return isPhone ? <PhoneBar {...props} /> : <SideRail {...props} />;
}
