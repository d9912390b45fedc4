/** The operations about organizations, members, teams, agents, devices, tokens, sessions and policies. */
import { agents } from './agents.ts';
import { connections } from './connections.ts';
import { devices } from './devices.ts';
import { identityProviders } from './identityProviders.ts';
import { invitations } from './invitations.ts';
import { members } from './members.ts';
import { orgs } from './orgs.ts';
import { passkeys } from './passkeys.ts';
import { policy } from './policy.ts';
import { session } from './session.ts';
import { sessions } from './sessions.ts';
import { teams } from './teams.ts';
import { tokens } from './tokens.ts';

export const organizationsRegistry = {
  agents,
  session,
  sessions,
  tokens,
  connections,
  passkeys,
  identityProviders,
  orgs,
  members,
  invitations,
  policy,
  teams,
  devices,
};
export type OrganizationsRegistry = typeof organizationsRegistry;
