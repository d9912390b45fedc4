import { getRouteApi } from '@tanstack/react-router';
import { useConsole, useIdentity } from '../data/context.ts';
import { t } from '../messages/index.ts';
import { Budgets } from './budgets.tsx';
import { Connections } from './connections.tsx';
import { Exports } from './exports.tsx';
import { ForgeSettings } from './forges.tsx';
import { SettingsFrame, type SettingsGroup } from './frame.tsx';
import { OrganizationGeneralSettings } from './general.tsx';
import { Members } from './members.tsx';
import { Chats } from './chats.tsx';
import { NotificationSettings } from './notifications.tsx';
import { Passkeys } from './passkeys.tsx';
import { Points } from './points.tsx';
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

const Notifications = () => (
  <>
    <NotificationSettings />
    <Chats />
  </>
);

export function OrganizationPage() {
  const { section } = settingsRoute.useParams();
  const { agent, member } = useIdentity();
  const isAdmin = useIsAdmin();
  const { session } = useConsole();
  // Agents do not see settings that only people can change.
  const isPerson = agent === null;
  const isMember = isPerson && member.role !== 'viewer';
  const groups: readonly SettingsGroup[] = [
    [
      'you',
      isPerson
        ? [
            { sectionName: 'notifications', children: <Notifications /> },
            { sectionName: 'sessions', children: <Sessions /> },
            // A caller who signed in with a token has no account, and thus no passkeys.
            ...(session.signedIn === null
              ? []
              : ([{ sectionName: 'passkeys', children: <Passkeys /> }] as const)),
            { sectionName: 'points', children: <Points /> },
          ]
        : [],
    ],
    [
      'organization',
      [
        ...(isAdmin
          ? ([{ sectionName: 'general', children: <OrganizationGeneralSettings /> }] as const)
          : []),
        { sectionName: 'members', children: <Members /> },
        { sectionName: 'teams', children: <Teams /> },
        { sectionName: 'policy', children: <PolicySettings /> },
        ...(isAdmin
          ? ([
              { sectionName: 'providers', children: <Providers /> },
              { sectionName: 'provisioning', children: <Provisioning /> },
            ] as const)
          : []),
      ],
    ],
    [
      'integrations',
      [
        ...(isMember ? ([{ sectionName: 'tokens', children: <Tokens /> }] as const) : []),
        ...(isPerson ? ([{ sectionName: 'connections', children: <Connections /> }] as const) : []),
        {
          sectionName: 'prompts',
          children: <Prompts projectId={undefined} projectKey="" mayWrite={isAdmin} />,
        },
        ...(isAdmin
          ? ([
              { sectionName: 'forges', children: <ForgeSettings /> },
              { sectionName: 'webhooks', children: <Webhooks /> },
            ] as const)
          : []),
      ],
    ],
    [
      'billing',
      [
        ...(isAdmin ? ([{ sectionName: 'seats', children: <Seats /> }] as const) : []),
        ...(isMember
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
        ...(isPerson ? ([{ sectionName: 'exports', children: <Exports /> }] as const) : []),
      ],
    ],
  ];
  return <SettingsFrame title={t.nav.settings} projectKey={null} groups={groups} chosenSection={section} />;
}
