/**
 * Acceptance of an invitation. It is not an operation, because the caller has no token before it succeeds.
 */
import { type Db, withNextVersion, CommitOutcomeUnknown, type Pool } from '@muster/driver';
import { type GivenRole, type Member, MemberName, notFound, refusal, type Scope } from '@muster/contract';
import {
  runReactionsAndWriteTrail,
  hashToken,
  newTokenSecret,
  parseWith,
  type EventReaction,
  toApiError,
} from '@muster/runtime';
import {
  type DomainEvent,
  identifyToken,
  inInvitingOrganization,
  inOrganization,
  type InvitedAccount,
  type InvitationGrant,
} from '@muster/tenancy';
import { z } from 'zod';
import {
  toInvitationEventSubject,
  type InvitationRow,
  lockInvitation,
  lockInvitationBySecret,
  updateInvitation,
} from '../data/invitations.ts';
import { addMemberToProjects, addMemberToTeams } from '../data/invited-into.ts';
import { getMember, insertMember } from '../data/members.ts';
import { getPolicy } from '../data/policy.ts';
import { countFreeSeats, lockSeats } from '../data/seats.ts';
import { insertToken } from '../data/tokens.ts';
import { requireAllowedAddress } from '../operations/invitations/send-invitation.ts';
import { isInvitationSecret } from '../rules/invitation-secret.ts';
import { invitationTransitions } from '../rules/invitation-states.ts';
import { roleNeedsSeat } from '../rules/role-changes.ts';

const AcceptInvitationInput = z.strictObject({ token: z.string().min(1).max(200), name: MemberName });

/** The facts about the request that the transport knows. */
export interface AcceptanceRequestFacts {
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export interface AcceptedInvitation {
  readonly member: Member;
  /** The new member's first token. It is shown once and not stored. */
  readonly apiToken: string;
}

/** The scopes of the first token by role. Viewers need `write` for comments. */
const firstTokenScopes: Readonly<Record<GivenRole, readonly Scope[]>> = {
  admin: ['admin'],
  member: ['write'],
  viewer: ['write'],
};
const firstTokenLifetimeDays = 365;

/**
 * Makes the bearer of an invitation's secret a member with a first token. Throws 400 for invalid input, and
 * 404 for a secret that is unknown or was replaced. Throws 409 already_resolved for an invitation that was
 * accepted or revoked (`details.state` says which). Throws 422 if it expired, if no seat is free, or if the
 * policy no longer allows the address.
 */
export async function acceptInvitation(
  pool: Pool,
  input: unknown,
  facts: AcceptanceRequestFacts,
  reactions: readonly EventReaction[],
): Promise<AcceptedInvitation> {
  const { token: secret, name } = parseWith(
    AcceptInvitationInput,
    input,
    'The acceptance of the invitation is invalid.',
  );
  if (!isInvitationSecret(secret)) throw notFound();
  const secretHash = hashToken(secret);
  const apiToken = newTokenSecret();
  try {
    const member = await inInvitingOrganization(pool, secretHash, async (session) => {
      const entry = await session.entry();
      return joinOrganization(session, entry, {
        ...{ name, facts, reactions },
        readLockedInvitation: () => lockInvitationBySecret(session, secretHash),
        createCredentials: (joined, role) => createFirstToken(session, joined, role, apiToken),
      });
    });
    return { member, apiToken };
  } catch (error) {
    // The answer to COMMIT was lost. If the commit happened, only this call can still show the token.
    const member = error instanceof CommitOutcomeUnknown ? await findTokenMember(pool, apiToken) : undefined;
    if (member !== undefined) return { member, apiToken };
    const known = toApiError(error);
    throw known.code === 'internal' ? error : known;
  }
}

/**
 * Makes a signed-in person a member, if the invitation is for their e-mail address. No token is created,
 * because their session authenticates them. Throws 401 if the session has ended, and 404 if the invitation is
 * for another address. Other errors are those of acceptInvitation.
 */
export async function acceptInvitationByAccount(
  pool: Pool,
  account: InvitedAccount,
  facts: AcceptanceRequestFacts,
  reactions: readonly EventReaction[],
): Promise<Member> {
  try {
    return await inInvitingOrganization(pool, account, async (session) => {
      const { name, ...entry } = await session.entry();
      if (name === null) throw new Error('an account has a name');
      return joinOrganization(session, entry, {
        ...{ name, facts, reactions },
        readLockedInvitation: () => lockInvitation(session, account.invitationId),
        createCredentials: async () => null,
      });
    });
  } catch (error) {
    const known = toApiError(error);
    throw known.code === 'internal' ? error : known;
  }
}

interface JoinSteps {
  /** The new member's display name. */
  readonly name: string;
  readonly readLockedInvitation: () => Promise<InvitationRow>;
  /** Creates the new member's credentials. Returns the id of their token, or null if they use a session. */
  readonly createCredentials: (member: Member, role: GivenRole) => Promise<string | null>;
  readonly facts: AcceptanceRequestFacts;
  readonly reactions: readonly EventReaction[];
}

async function joinOrganization(
  db: Db,
  { at, orgId }: Omit<InvitationGrant, 'name'>,
  { name, readLockedInvitation, createCredentials, facts, reactions }: JoinSteps,
): Promise<Member> {
  const [seats, policy, invitation] = await Promise.all([
    lockSeats(db),
    getPolicy(db),
    readLockedInvitation(),
  ]);
  const outcome = invitationTransitions[invitation.state].accept;
  if ('refused' in outcome) throw refusal(outcome.refused, { state: invitation.state });
  requireAllowedAddress(invitation.email, policy);
  // The invitation's own seat is still counted as pending, so a balance of zero is sufficient.
  if (roleNeedsSeat(invitation.role) && countFreeSeats(seats) < 0)
    throw refusal('seats_exhausted', { ...seats });

  const member = await insertMember(db, { email: invitation.email, name, role: invitation.role });
  const tokenId = await createCredentials(member, invitation.role);
  storeAcceptance(db, invitation, member, at);
  const actor = { kind: 'member', memberId: member.id, agentId: null, name: member.name } as const;
  const domainEvents = [toAcceptedEvent(invitation, member)];
  const audit = { ...facts, operation: 'invitations.accept', target: invitation.id, tokenId };
  await runReactionsAndWriteTrail(db, { orgId, actor, domainEvents, facts: audit }, reactions);
  return member;
}

/** Finds the member to whom the token belongs; undefined if it does not exist. */
async function findTokenMember(pool: Pool, apiToken: string): Promise<Member | undefined> {
  const identity = await identifyToken(pool, hashToken(apiToken));
  if (identity === undefined) return undefined;
  const { tokenHash, orgId, memberId } = identity;
  return inOrganization(
    pool,
    { effect: 'read', tokenHash, orgId, cachedRights: null, requiredOrgRank: 1, target: null, claim: null },
    (session) => getMember(session, memberId),
  );
}

/** Creates the new member's first token and returns its id. */
async function createFirstToken(db: Db, member: Member, role: GivenRole, secret: string): Promise<string> {
  const { id } = await insertToken(db, {
    secret,
    memberId: member.id,
    agentId: null,
    name: 'invitation',
    scopes: firstTokenScopes[role],
    projectIds: null,
    expiresInDays: firstTokenLifetimeDays,
  });
  return id;
}

/** Adds the member to the teams and projects of the invitation, and marks it as accepted. */
function storeAcceptance(db: Db, invitation: InvitationRow, member: Member, acceptedAt: string): void {
  const { team_ids: teamIds, project_ids: projectIds } = invitation;
  if (teamIds.length > 0) db.deferToCommit(addMemberToTeams(member.id, teamIds));
  if (projectIds.length > 0) {
    const role = invitation.role === 'viewer' ? 'viewer' : 'contributor';
    db.deferToCommit(addMemberToProjects(member.id, projectIds, role));
  }
  db.deferToCommit(
    updateInvitation(
      withNextVersion<InvitationRow>(invitation, { state: 'accepted', member_id: member.id }, acceptedAt),
    ),
  );
}

/**
 * Every member may read the event of the acceptance, so it contains the name that the new member chose
 * instead of the address.
 */
const toAcceptedEvent = (invitation: InvitationRow, member: Member): DomainEvent => ({
  kind: 'invitation.accepted',
  subject: toInvitationEventSubject(invitation, member.name),
  data: { memberId: member.id, invitedBy: invitation.invited_by.memberId },
});
