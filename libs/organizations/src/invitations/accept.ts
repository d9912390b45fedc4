/** Accepting an invitation. It is no operation: there is no token until it is done. */
import {
  type Db,
  identify,
  inInvitingOrganization,
  inOrganization,
  OutcomeUnknown,
  type Happening,
  type Pool,
} from '@muster/database';
import { type GivenRole, type Member, MemberName, notFound, refusal, type Scope } from '@muster/registry';
import {
  type Caller,
  conclude,
  hashToken,
  newTokenSecret,
  parseWith,
  type Reaction,
  toApiError,
} from '@muster/runtime';
import { z } from 'zod';
import {
  aboutInvitation,
  type InvitationRow,
  lockInvitationBySecret,
  setInvitation,
} from '../data/invitations.ts';
import { joinProjects, joinTeams } from '../data/invited-into.ts';
import { getMember, setNewMember } from '../data/members.ts';
import { getPolicy } from '../data/policy.ts';
import { freeSeats, lockSeats } from '../data/seats.ts';
import { setNewToken } from '../data/tokens.ts';
import { requireAllowedAddress } from '../operations/invitations/send-invitation.ts';
import { isInvitationSecret } from '../rules/invitation-secret.ts';
import { invitationLife } from '../rules/invitation-states.ts';
import { holdsSeat } from '../rules/role-changes.ts';

const Acceptance = z.strictObject({ token: z.string().min(1).max(200), name: MemberName });

/** What a transport knows of the request. */
export interface AcceptanceFacts {
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export interface Accepted {
  readonly member: Member;
  /** The new member's first token; shown once and stored nowhere. */
  readonly apiToken: string;
}

/** What a first token may do: a viewer may comment, and an admin administrates. */
const scopesOf: Readonly<Record<GivenRole, readonly Scope[]>> = {
  admin: ['admin'],
  member: ['write'],
  viewer: ['write'],
};
const tokenDays = 365;

/**
 * Makes the bearer of the secret of a pending invitation a member, with a first token. 400 for what does not fit, 404
 * for a secret that is unknown or was replaced by a newer one, 409 already_resolved where it was accepted or revoked
 * (details.state says which), 422 where it expired, there is no seat, or the policy no longer lets the address in.
 */
export async function acceptInvitation(
  pool: Pool,
  input: unknown,
  facts: AcceptanceFacts,
  reactions: readonly Reaction[],
): Promise<Accepted> {
  const { token: secret, name } = parseWith(Acceptance, input, 'What accepts an invitation does not fit.');
  if (!isInvitationSecret(secret)) throw notFound();
  const secretHash = hashToken(secret);
  const apiToken = newTokenSecret();
  try {
    const member = await inInvitingOrganization(pool, secretHash, async (session) => {
      const { at, orgId } = await session.entry();
      const [seats, policy, invitation] = await Promise.all([
        lockSeats(session),
        getPolicy(session),
        lockInvitationBySecret(session, secretHash),
      ]);
      const outcome = invitationLife[invitation.state].accept;
      if ('refused' in outcome) throw refusal(outcome.refused, { state: invitation.state });
      requireAllowedAddress(invitation.email, policy);
      // What it reserved is counted among the pending, and is what the member holds from now on.
      if (holdsSeat(invitation.role) && freeSeats(seats) < 0) throw refusal('seats_exhausted', { ...seats });

      const member = await setNewMember(session, {
        email: invitation.email,
        name,
        role: invitation.role,
      });
      const caller = await setFirstToken(session, orgId, member, invitation.role, apiToken);
      settle(session, invitation, member, at);
      const happenings = [happeningOf(invitation, member)];
      await conclude(
        session,
        { orgId, actor: caller.actor, happenings, facts: auditFacts(invitation, caller, facts) },
        reactions,
      );
      return member;
    });
    return { member, apiToken };
  } catch (error) {
    // The answer to COMMIT was lost. If it happened, only this call can show the token.
    const member = error instanceof OutcomeUnknown ? await findHolder(pool, apiToken) : undefined;
    if (member !== undefined) return { member, apiToken };
    const known = toApiError(error);
    throw known.code === 'internal' ? error : known;
  }
}

/** Whose token it is, if it is anybody's. */
async function findHolder(pool: Pool, apiToken: string): Promise<Member | undefined> {
  const identity = await identify(pool, hashToken(apiToken));
  if (identity === undefined) return undefined;
  const { tokenHash, orgId, memberId } = identity;
  return inOrganization(
    pool,
    { effect: 'read', tokenHash, orgId, rights: null, orgRank: 1, target: null, claim: null },
    (session) => getMember(session, memberId),
  );
}

async function setFirstToken(
  db: Db,
  orgId: string,
  member: Member,
  role: GivenRole,
  secret: string,
): Promise<Caller> {
  const { id: tokenId } = await setNewToken(db, {
    secret,
    memberId: member.id,
    agentId: null,
    name: 'invitation',
    scopes: scopesOf[role],
    projectIds: null,
    expiresInDays: tokenDays,
  });
  const actor = { kind: 'member', memberId: member.id, agentId: null, name: member.name } as const;
  return {
    ...{ orgId, memberId: member.id, agentId: null, tokenId, actor },
    ...{ scopes: scopesOf[role], projectIds: null },
  };
}

/** What the invitation promised. */
function settle(db: Db, invitation: InvitationRow, member: Member, at: string): void {
  const { team_ids: teamIds, project_ids: projectIds } = invitation;
  if (teamIds.length > 0) db.later(joinTeams(member.id, teamIds));
  if (projectIds.length > 0) {
    const role = invitation.role === 'viewer' ? 'viewer' : 'contributor';
    db.later(joinProjects(member.id, projectIds, role));
  }
  db.later(
    setInvitation({
      ...invitation,
      state: 'accepted',
      member_id: member.id,
      updated_at: at,
      version: invitation.version + 1,
    }),
  );
}

/** Everybody may read it, so it says the name that the member chose, and not the address. */
const happeningOf = (invitation: InvitationRow, member: Member): Happening => ({
  kind: 'invitation.accepted',
  subject: aboutInvitation(invitation, member.name),
  data: { memberId: member.id, invitedBy: invitation.invited_by.memberId },
});

const auditFacts = (invitation: InvitationRow, { tokenId }: Caller, facts: AcceptanceFacts) => ({
  ...facts,
  operation: 'invitations.accept',
  target: invitation.id,
  tokenId,
});
