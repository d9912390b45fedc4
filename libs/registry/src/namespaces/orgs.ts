import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { Deleted, ExpectedVersion, MemberParam, text, Time } from '../kernel/values.ts';
import { Member } from '../records/member.ts';
import { Org, OrgDescription, OrgName, OrgSlug } from '../records/org.ts';

export const orgs = {
  update: operation({
    name: 'orgs.update',
    effect: 'write',
    idempotent: true,
    summary: 'Change the name, slug or description of the organization',
    keywords: 'rename organization company settings',
    description: `Fields left out stay as they are; description is cleared by null. A slug belongs to one organization of the installation.`,
    access: org('admin'),
    params: z.strictObject({
      name: OrgName.optional(),
      slug: OrgSlug.optional(),
      description: OrgDescription.nullable().optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ org: Org }),
    refusals: ['version_mismatch', 'already_exists'],
    emits: ['org.updated'],
    auditsRefusal: true,
    example: { description: 'Makers of everything' },
  }),
  transferOwnership: operation({
    name: 'orgs.transferOwnership',
    effect: 'write',
    destructive: true,
    summary: 'Make another member the owner',
    keywords: 'new owner hand over organization',
    description: `The old owner becomes an admin in the same moment, so there is always exactly one owner. A viewer holds no seat and is made a member first. To whom owns it already, nothing changes.`,
    access: org('owner'),
    needsProof: true,
    params: z.strictObject({ memberId: MemberParam }),
    result: z.object({ org: Org, previousOwner: Member, newOwner: Member }),
    refusals: ['seat_required'],
    emits: ['org.ownershipTransferred'],
    auditsRefusal: true,
    example: { memberId: '01936d5c-0000-7000-8000-000000000020' },
  }),
  delete: operation({
    name: 'orgs.delete',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Delete the organization',
    keywords: 'remove close erase company account for good',
    description: `Every token of it is refused from then on, also the one that asked. What it had is kept until purgeAfter, 30 days on, for an operator to bring back. confirmSlug repeats the slug, so that a slip of the hand deletes nothing.`,
    access: org('owner'),
    needsProof: true,
    params: z.strictObject({ confirmSlug: text(40, 1) }),
    result: Deleted.extend({ purgeAfter: Time }),
    refusals: ['confirmation_mismatch'],
    emits: ['org.deleted'],
    auditsRefusal: true,
    example: { confirmSlug: 'acme' },
  }),
};
