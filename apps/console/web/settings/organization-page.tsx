import { getRouteApi } from '@tanstack/react-router';
import { useConsole, useIdentity } from '../data/context.ts';
import { t } from '../messages/index.ts';
import { Connections } from './connections.tsx';
import { ForgeSettings } from './forges.tsx';
import { SettingsFrame, type SettingsSection } from './frame.tsx';
import { OrganizationGeneralSettings } from './general.tsx';
import { Members } from './members.tsx';
import { NotificationSettings } from './notifications.tsx';
import { Passkeys } from './passkeys.tsx';
import { PolicySettings } from './policy.tsx';
import { Prompts } from './prompts.tsx';
import { Providers } from './providers.tsx';
import { useIsAdmin } from './rights.ts';
import { Seats } from './seats.tsx';
import { Sessions } from './sessions.tsx';
import { Teams } from './teams.tsx';
import { Tokens } from './tokens.tsx';
import { Webhooks } from './webhooks.tsx';

const settingsRoute = getRouteApi('/settings/$section');

export function OrganizationPage() {
  const { section } = settingsRoute.useParams();
  const { agent, member } = useIdentity();
  const isAdmin = useIsAdmin();
  const { session } = useConsole();
  // Agents do not see settings that only people can change.
  const own: readonly SettingsSection[] =
    agent === null
      ? [
          { section: 'tokens', children: <Tokens /> },
          { section: 'connections', children: <Connections /> },
          { section: 'notifications', children: <NotificationSettings /> },
          { section: 'sessions', children: <Sessions /> },
          // A caller who signed in with a token has no account, and thus no passkeys.
          ...(session.signedIn === null ? [] : ([{ section: 'passkeys', children: <Passkeys /> }] as const)),
        ]
      : [];
  const places: readonly SettingsSection[] = [
    { section: 'members', children: <Members /> },
    { section: 'teams', children: <Teams /> },
    ...(member.role === 'viewer' ? own.filter((place) => place.section !== 'tokens') : own),
    { section: 'policy', children: <PolicySettings /> },
    { section: 'prompts', children: <Prompts projectId={undefined} mayWrite={isAdmin} /> },
    ...(isAdmin
      ? ([
          { section: 'providers', children: <Providers /> },
          { section: 'webhooks', children: <Webhooks /> },
          { section: 'forges', children: <ForgeSettings /> },
          { section: 'seats', children: <Seats /> },
          { section: 'general', children: <OrganizationGeneralSettings /> },
        ] as const)
      : []),
  ];
  return <SettingsFrame title={t.nav.settings} projectKey={null} sections={places} chosenSection={section} />;
}
