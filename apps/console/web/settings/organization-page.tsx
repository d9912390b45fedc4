import { getRouteApi } from '@tanstack/react-router';
import { useConsole, useIdentity } from '../data/context.ts';
import { t } from '../messages/index.ts';
import { Budgets } from './budgets.tsx';
import { Connections } from './connections.tsx';
import { Exports } from './exports.tsx';
import { ForgeSettings } from './forges.tsx';
import { SettingsFrame, type SettingsSection } from './frame.tsx';
import { OrganizationGeneralSettings } from './general.tsx';
import { Members } from './members.tsx';
import { NotificationSettings } from './notifications.tsx';
import { Passkeys } from './passkeys.tsx';
import { PolicySettings } from './policy.tsx';
import { Prices } from './prices.tsx';
import { Prompts } from './prompts.tsx';
import { Providers } from './providers.tsx';
import { Provisioning } from './provisioning.tsx';
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
          { sectionName: 'tokens', children: <Tokens /> },
          { sectionName: 'connections', children: <Connections /> },
          { sectionName: 'notifications', children: <NotificationSettings /> },
          { sectionName: 'sessions', children: <Sessions /> },
          { sectionName: 'exports', children: <Exports /> },
          // A caller who signed in with a token has no account, and thus no passkeys.
          ...(session.signedIn === null
            ? []
            : ([{ sectionName: 'passkeys', children: <Passkeys /> }] as const)),
        ]
      : [];
  const places: readonly SettingsSection[] = [
    { sectionName: 'members', children: <Members /> },
    { sectionName: 'teams', children: <Teams /> },
    ...(member.role === 'viewer' ? own.filter((place) => place.sectionName !== 'tokens') : own),
    ...(agent === null && member.role !== 'viewer'
      ? ([
          {
            sectionName: 'budgets',
            children: (
              <>
                <Budgets />
                <Prices />
              </>
            ),
          },
        ] as const)
      : []),
    { sectionName: 'policy', children: <PolicySettings /> },
    { sectionName: 'prompts', children: <Prompts projectId={undefined} mayWrite={isAdmin} /> },
    ...(isAdmin
      ? ([
          { sectionName: 'providers', children: <Providers /> },
          { sectionName: 'provisioning', children: <Provisioning /> },
          { sectionName: 'webhooks', children: <Webhooks /> },
          { sectionName: 'forges', children: <ForgeSettings /> },
          { sectionName: 'seats', children: <Seats /> },
          { sectionName: 'general', children: <OrganizationGeneralSettings /> },
        ] as const)
      : []),
  ];
  return <SettingsFrame title={t.nav.settings} projectKey={null} sections={places} chosenSection={section} />;
}
