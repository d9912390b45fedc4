import { interfaceVersion } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { getEntitlement } from '../../data/entitlement.ts';
import { findHeldWork } from '../../data/held-work.ts';
import { getMember } from '../../data/members.ts';
import { getOrg } from '../../data/orgs.ts';
import { listTeamsOfMember } from '../../data/teams.ts';
import { getToken } from '../../data/tokens.ts';

/** All queries are sent in the same tick, so they take one round trip. */
export const identity = handle(organizationsRegistry.session.identity, async ({ caller, db, access }) => {
  const { memberId, agentId, tokenId, actor } = caller;
  const [member, org, token, teams, holding, entitlement, { at }] = await Promise.all([
    getMember(db, memberId),
    getOrg(db),
    getToken(db, tokenId),
    listTeamsOfMember(db, memberId),
    findHeldWork(db, caller),
    getEntitlement(db),
    access(),
  ]);
  const agent = agentId === null ? null : { id: agentId, name: actor.name };
  return {
    ...{ member, agent, org, token, teams, holding, entitlement },
    ...{ serverTime: at, apiVersion: interfaceVersion },
  };
});
