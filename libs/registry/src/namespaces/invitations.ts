import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Id } from '../kernel/values.ts';
import { Invitation, InvitationState } from '../records/invitation.ts';

const example = { invitationId: '01936d5c-0000-7000-8000-000000000030' };

export const invitations = {
  list: operation({
    name: 'invitations.list',
    effect: 'read',
    summary: 'List the invitations of the organization',
    keywords: 'pending invites open',
    description: `Newest first, in any state unless one is asked for. A pending one whose time is over is expired, from that moment on.`,
    access: org('admin'),
    params: z.strictObject({ state: InvitationState.optional(), ...page }),
    result: pageOf(Invitation),
    example: { state: 'pending' },
  }),
  resend: operation({
    name: 'invitations.resend',
    effect: 'write',
    summary: 'Send an invitation again',
    keywords: 'invite again',
    description: `A new e-mail with a new secret, good for another 7 days; the one before it no longer lets anybody in. An expired one takes a seat again. Only the owner sends an invitation to be admin. The policy must still let the address in. Once at once, then at most every 10 minutes, and five times in a week to one address: 422 with details.retryAt.`,
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
    summary: 'Take an invitation back',
    keywords: 'cancel invite withdraw',
    description: `Only a pending one. Its seat is free at once, and its secret lets no one in.`,
    access: org('admin'),
    params: z.strictObject({ invitationId: Id }),
    result: z.object({ invitation: Invitation }),
    refusals: ['already_resolved'],
    emits: ['invitation.revoked'],
    auditsRefusal: true,
    example,
  }),
};
