import { z } from 'zod';
import { Id, recordStamps, Time } from '../kernel/values.ts';
import { Actor, GivenRole } from './member.ts';

/**
 * The states of an invitation. It is pending until it is accepted or revoked. A pending one is expired after
 * `expiresAt`.
 */
export const invitationStates = ['pending', 'expired', 'accepted', 'revoked'] as const;
export const InvitationState = z.enum(invitationStates);
export type InvitationState = z.infer<typeof InvitationState>;

/** An invitation of a person to the organization. The secret that accepts it is only in the e-mail. */
export const Invitation = z
  .object({
    id: Id,
    email: z.string(),
    role: GivenRole,
    teamIds: z.array(Id).describe('The teams that the new member joins'),
    projectIds: z
      .array(Id)
      .describe('The projects that the new member joins, as contributor or (for the role viewer) as viewer'),
    state: InvitationState,
    invitedBy: Actor,
    expiresAt: Time,
    memberId: Id.nullable().describe('The member who accepted it'),
    ...recordStamps,
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof Invitation>;
