import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { Deleted, ExpectedVersion, MemberParam, boundedText, Time } from '../kernel/values.ts';
import { Member } from '../records/member.ts';
import { Org, OrgDescription, OrgName, OrgSlug } from '../records/org.ts';

export const orgs = {
  update: operation({
    name: 'orgs.update',
    effect: 'write',
    idempotent: true,
    summary: 'Change the name, slug or description of the organization',
    keywords: 'rename organization company settings',
    description:
      'Omitted fields keep their values; null clears description. A slug is unique on the installation.',
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
    summary: 'Transfer the organization to another owner',
    keywords: 'new owner hand over organization',
    description:
      'The previous owner becomes an admin at the same time, so there is always exactly one owner. A viewer holds no seat and must be made a member first. Transferring it to its current owner has no effect.',
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
    description:
      'All its tokens stop working, including the one that makes the call. Its data is kept for 30 days, until purgeAfter, so that an operator can restore it. confirmSlug must repeat the slug, to prevent accidental deletion.',
    access: org('owner'),
    needsProof: true,
    params: z.strictObject({ confirmSlug: boundedText(40, 1) }),
    result: Deleted.extend({ purgeAfter: Time }),
    refusals: ['confirmation_mismatch'],
    emits: ['org.deleted'],
    auditsRefusal: true,
    example: { confirmSlug: 'acme' },
  }),
};
