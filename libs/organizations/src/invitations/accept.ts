/** Accepting an invitation. It is no operation: there is no token until it is done. */
import { type Db, nextVersion, OutcomeUnknown, type Pool } from '@muster/driver';
import { type GivenRole, type Member, MemberName, notFound, refusal, type Scope } from '@muster/registry';
import { conclude, hashToken, newTokenSecret, parseWith, type Reaction, toApiError } from '@muster/runtime';
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
      const entry = await session.entry();
      return join(session, entry, {
        ...{ name, facts, reactions },
        lock: () => lockInvitationBySecret(session, secretHash),
        begin: (joined, role) => setFirstToken(session, joined, role, apiToken),
      });
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

/**
 * Makes a person a member who signed in, and whose address the invitation is for; there is no token, since their session lets
 * them in. 401 where the session is over, 404 where the invitation is not for their address; else as acceptInvitation.
 */
export async function joinByAccount(
  pool: Pool,
  account: InvitedAccount,
  facts: AcceptanceFacts,
  reactions: readonly Reaction[],
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
  /** As the others will see it. */
  readonly name: string;
  readonly lock: () => Promise<InvitationRow>;
  /** Gives the new member what they come in by; the id of their token, where it is one. */
  readonly begin: (member: Member, role: GivenRole) => Promise<string | null>;
  readonly facts: AcceptanceFacts;
  readonly reactions: readonly Reaction[];
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
  // What it reserved is counted among the pending, and is what the member holds from now on.
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

/** The id of the new member's first token. */
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

/** What the invitation promised. */
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

/** Everybody may read it, so it says the name that the member chose, and not the address. */
const domainEventOf = (invitation: InvitationRow, member: Member): DomainEvent => ({
  kind: 'invitation.accepted',
  subject: aboutInvitation(invitation, member.name),
  data: { memberId: member.id, invitedBy: invitation.invited_by.memberId },
});
