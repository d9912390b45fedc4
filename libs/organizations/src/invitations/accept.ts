/**
 * Acceptance of an invitation. It is not an operation, because the caller has no token before it succeeds.
 */
import { type Db, nextVersion, OutcomeUnknown, type Pool } from '@muster/driver';
import { type GivenRole, type Member, MemberName, notFound, refusal, type Scope } from '@muster/registry';
import {
  conclude,
  hashToken,
  newTokenSecret,
  parseWith,
  type EventReaction,
  toApiError,
} from '@muster/runtime';
import {
  type DomainEvent,
  identify,
  inInvitingOrganization,
  inOrganization,
  type InvitedAccount,
  type InvitedEntry,
} from '@muster/tenancy';
import { z } from 'zod';
import {
  aboutInvitation,
  type InvitationRow,
  lockInvitation,
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

/** The facts about the request that the transport knows. */
export interface AcceptanceFacts {
  readonly requestId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export interface Accepted {
  readonly member: Member;
  /** The new member's first token. It is shown once and not stored. */
  readonly apiToken: string;
}

/** The scopes of the first token by role. Viewers need `write` for comments. */
const scopesOf: Readonly<Record<GivenRole, readonly Scope[]>> = {
  admin: ['admin'],
  member: ['write'],
  viewer: ['write'],
};
const tokenDays = 365;

/**
 * Makes the bearer of an invitation's secret a member with a first token. Throws 400 for invalid input, and
 * 404 for a secret that is unknown or was replaced. Throws 409 already_resolved for an invitation that was
 * accepted or revoked (`details.state` says which). Throws 422 if it expired, if no seat is free, or if the
 * policy no longer allows the address.
 */
export async function acceptInvitation(
  pool: Pool,
  input: unknown,
  facts: AcceptanceFacts,
  reactions: readonly EventReaction[],
): Promise<Accepted> {
  const { token: secret, name } = parseWith(
    Acceptance,
    input,
    'The acceptance of the invitation is invalid.',
  );
  if (!isInvitationSecret(secret)) throw notFound();
  const secretHash = hashToken(secret);
  const apiToken = newTokenSecret();
  try {
    const member = await inInvitingOrganization(pool, secretHash, async (session) => {
      const entry = await session.entry();
      return join(session, entry, {
        ...{ name, facts, reactions },
        lock: () => lockInvitationBySecret(session, secretHash),
        begin: (joined, role) => setFirstToken(session, joined, role, apiToken),
      });
    });
    return { member, apiToken };
  } catch (error) {
    // The answer to COMMIT was lost. If the commit happened, only this call can still show the token.
    const member = error instanceof OutcomeUnknown ? await findHolder(pool, apiToken) : undefined;
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
export async function joinByAccount(
  pool: Pool,
  account: InvitedAccount,
  facts: AcceptanceFacts,
  reactions: readonly EventReaction[],
): Promise<Member> {
  try {
    return await inInvitingOrganization(pool, account, async (session) => {
      const { name, ...entry } = await session.entry();
      if (name === null) throw new Error('an account has a name');
      return join(session, entry, {
        ...{ name, facts, reactions },
        lock: () => lockInvitation(session, account.invitationId),
        begin: async () => null,
      });
    });
  } catch (error) {
    const known = toApiError(error);
    throw known.code === 'internal' ? error : known;
  }
}

interface Joining {
  /** The new member's display name. */
  readonly name: string;
  readonly lock: () => Promise<InvitationRow>;
  /** Creates the new member's credentials. Answers the id of their token, or null if they use a session. */
  readonly begin: (member: Member, role: GivenRole) => Promise<string | null>;
  readonly facts: AcceptanceFacts;
  readonly reactions: readonly EventReaction[];
}

async function join(
  db: Db,
  { at, orgId }: Omit<InvitedEntry, 'name'>,
  { name, lock, begin, facts, reactions }: Joining,
): Promise<Member> {
  const [seats, policy, invitation] = await Promise.all([lockSeats(db), getPolicy(db), lock()]);
  const outcome = invitationLife[invitation.state].accept;
  if ('refused' in outcome) throw refusal(outcome.refused, { state: invitation.state });
  requireAllowedAddress(invitation.email, policy);
  // The invitation's own seat is still counted as pending, so a balance of zero is sufficient.
  if (holdsSeat(invitation.role) && freeSeats(seats) < 0) throw refusal('seats_exhausted', { ...seats });

  const member = await setNewMember(db, { email: invitation.email, name, role: invitation.role });
  const tokenId = await begin(member, invitation.role);
  settle(db, invitation, member, at);
  const actor = { kind: 'member', memberId: member.id, agentId: null, name: member.name } as const;
  const domainEvents = [domainEventOf(invitation, member)];
  const audit = { ...facts, operation: 'invitations.accept', target: invitation.id, tokenId };
  await conclude(db, { orgId, actor, domainEvents, facts: audit }, reactions);
  return member;
}

/** Finds the member to whom the token belongs; undefined if it does not exist. */
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

/** Creates the new member's first token and answers its id. */
async function setFirstToken(db: Db, member: Member, role: GivenRole, secret: string): Promise<string> {
  const { id } = await setNewToken(db, {
    secret,
    memberId: member.id,
    agentId: null,
    name: 'invitation',
    scopes: scopesOf[role],
    projectIds: null,
    expiresInDays: tokenDays,
  });
  return id;
}

/** Adds the member to the teams and projects of the invitation, and marks it as accepted. */
function settle(db: Db, invitation: InvitationRow, member: Member, at: string): void {
  const { team_ids: teamIds, project_ids: projectIds } = invitation;
  if (teamIds.length > 0) db.later(joinTeams(member.id, teamIds));
  if (projectIds.length > 0) {
    const role = invitation.role === 'viewer' ? 'viewer' : 'contributor';
    db.later(joinProjects(member.id, projectIds, role));
  }
  db.later(
    setInvitation(nextVersion<InvitationRow>(invitation, { state: 'accepted', member_id: member.id }, at)),
  );
}

/**
 * Every member may read the event of the acceptance, so it contains the name that the new member chose
 * instead of the address.
 */
const domainEventOf = (invitation: InvitationRow, member: Member): DomainEvent => ({
  kind: 'invitation.accepted',
  subject: aboutInvitation(invitation, member.name),
  data: { memberId: member.id, invitedBy: invitation.invited_by.memberId },
});
