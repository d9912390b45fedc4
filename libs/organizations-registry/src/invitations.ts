import { z } from 'zod';
import { org, operation, pageParams, pageSchemaOf, Id, Invitation, InvitationState } from '@muster/contract';

const example = { invitationId: '01936d5c-0000-7000-8000-000000000030' };

export const invitations = {
  list: operation({
    name: 'invitations.list',
    effect: 'read',
    summary: 'List the invitations of the organization',
    keywords: 'pending invites open',
    description:
      'Newest first, in any state unless state is given. A pending invitation becomes expired when its time has passed.',
    access: org('admin'),
    params: z.strictObject({ state: InvitationState.optional(), ...pageParams }),
    result: pageSchemaOf(Invitation),
    example: { state: 'pending' },
  }),
  resend: operation({
    name: 'invitations.resend',
    effect: 'write',
    summary: 'Send an invitation again',
    keywords: 'invite again',
    description:
      'Sends a new e-mail with a new secret, valid for another 7 days; the old secret stops working. An expired invitation reserves a seat again. Only the owner can resend an invitation for the role admin. The policy must still allow the address. An invitation can be resent every 10 minutes, and five times per week and address; otherwise the call fails with 422 and details.retryAt.',
    access: org('admin'),
    params: z.strictObject({ invitationId: Id }),
    result: z.object({ invitation: Invitation }),
    refusals: ['already_resolved', 'seats_exhausted', 'limit_exceeded', 'policy'],
    emits: ['invitation.renewed'],
    example,
  }),
  revoke: operation({
    name: 'invitations.revoke',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Revoke an invitation',
    keywords: 'cancel invite withdraw',
    description:
      'Only pending invitations can be revoked. The seat is freed immediately, and the secret stops working.',
    access: org('admin'),
    params: z.strictObject({ invitationId: Id }),
    result: z.object({ invitation: Invitation }),
    refusals: ['already_resolved'],
    emits: ['invitation.revoked'],
    auditsRefusal: true,
    example,
  }),
};
