/**
 * The operations of SCIM 2.0 (RFC 7644). They run like operations, but only the routes below /scim/v2 call them,
 * with a token of the scope `scim`. Resources are read by libs/organizations/src/scim.
 */
import { z } from 'zod';
import { org } from './kernel/access.ts';
import { operation } from './kernel/operation.ts';
import { Deleted, Id, Time } from './kernel/values.ts';

/** Returns the name of an attribute in lower case, without the schema that may precede it. */
export const scimAttributeName = (name: string): string =>
  name.toLowerCase().replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group)(?::|$)/, '');

/** A resource as an identity provider sent it. */
const SentResource = z.record(z.string(), z.unknown());

/** The maximum number of operations in a PATCH. */
const maxPatchOperations = 1_000;
/** The maximum number of members that one request adds to a group or removes from it. */
export const maxScimMembersPerRequest = 5_000;
/** The maximum number of resources on a page. */
export const maxScimPageSize = 200;
const maxFilterLength = 2_000;

const PatchOperation = z.object({
  op: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['add', 'replace', 'remove'])),
  path: z.string().max(maxFilterLength).optional(),
  value: z.unknown().optional(),
});
export type ScimPatchOperation = z.output<typeof PatchOperation>;
const PatchOperations = z.array(PatchOperation).min(1).max(maxPatchOperations);

/** A change: the whole resource (PUT), or operations that take effect together (PATCH). */
const sentChange = { resource: SentResource.optional(), operations: PatchOperations.optional() };

const pageRange = {
  filter: z.string().min(1).max(maxFilterLength).optional(),
  /** The number of the first resource on the page, from 1. */
  startIndex: z.int().min(1),
  /** With 0, only the total is answered. */
  count: z.int().min(0).max(maxScimPageSize),
};

const NamedRef = z.object({ id: Id, name: z.string() });

/** A member as identity providers see them. */
const ScimUser = z.object({
  id: Id,
  userName: z.string(),
  externalId: z.string().nullable(),
  displayName: z.string(),
  givenName: z.string().nullable(),
  familyName: z.string().nullable(),
  active: z.boolean(),
  groups: z.array(NamedRef),
  createdAt: Time,
  updatedAt: Time,
});
export type ScimUser = z.infer<typeof ScimUser>;

/** A team as identity providers see it. */
const ScimGroup = z.object({
  id: Id,
  displayName: z.string(),
  externalId: z.string().nullable(),
  /** Null if the members were not requested. */
  members: z.array(NamedRef).nullable(),
  createdAt: Time,
  updatedAt: Time,
});
export type ScimGroup = z.infer<typeof ScimGroup>;

const pageOf = <Resource extends z.ZodType>(resource: Resource) =>
  z.object({ total: z.int(), resources: z.array(resource) });

const scimOperation: typeof operation = (definition) => ({
  ...operation({ ...definition, byMemberOnly: true, auditsRefusal: true, surfaces: [] }),
  scope: 'scim',
});

const access = org('admin');
const memberId = '01936d5c-0000-7000-8000-000000000020';
const teamId = '01936d5c-0000-7000-8000-000000000021';
export const scimOperations = {
  users: {
    create: scimOperation({
      name: 'scim.users.create',
      effect: 'write',
      summary: 'Add a member',
      description: 'A pending invitation of the address is revoked.',
      access,
      params: z.strictObject({ resource: SentResource }),
      result: z.object({ user: ScimUser }),
      refusals: ['already_exists', 'policy', 'seats_exhausted'],
      emits: ['member.added', 'invitation.revoked'],
      example: { resource: { userName: 'noor@example.com' } },
    }),
    get: scimOperation({
      name: 'scim.users.get',
      effect: 'read',
      summary: 'Read a member',
      description: 'Members who were deactivated by SCIM are included.',
      access,
      params: z.strictObject({ memberId: Id }),
      result: z.object({ user: ScimUser }),
      example: { memberId },
    }),
    list: scimOperation({
      name: 'scim.users.list',
      effect: 'read',
      summary: 'Find members',
      description: 'In the order in which they were created.',
      access,
      params: z.strictObject(pageRange),
      result: pageOf(ScimUser),
      example: { startIndex: 1, count: 10 },
    }),
    update: scimOperation({
      name: 'scim.users.update',
      effect: 'write',
      idempotent: true,
      summary: 'Change, deactivate or activate a member',
      description: 'Attributes that are left out keep their values.',
      access,
      params: z.strictObject({ memberId: Id, ...sentChange }),
      result: z.object({ user: ScimUser }),
      refusals: ['already_exists', 'owner_required', 'policy', 'seats_exhausted'],
      emits: ['member.added', 'member.updated', 'member.removed'],
      example: { memberId, operations: [{ op: 'replace', path: 'active', value: false }] },
    }),
    delete: scimOperation({
      name: 'scim.users.delete',
      effect: 'write',
      idempotent: true,
      destructive: true,
      summary: 'Remove a member',
      description: 'Has the effects of members.removeMember.',
      access,
      params: z.strictObject({ memberId: Id }),
      result: Deleted,
      refusals: ['owner_required'],
      emits: ['member.removed'],
      example: { memberId },
    }),
  },
  groups: {
    create: scimOperation({
      name: 'scim.groups.create',
      effect: 'write',
      summary: 'Create a team with members',
      description: 'The name must be unique in the organization.',
      access,
      params: z.strictObject({ resource: SentResource }),
      result: z.object({ group: ScimGroup }),
      refusals: ['already_exists'],
      emits: ['team.created', 'team.memberAdded'],
      example: { resource: { displayName: 'Mobile' } },
    }),
    get: scimOperation({
      name: 'scim.groups.get',
      effect: 'read',
      summary: 'Read a team',
      description: 'Members are included only if includeMembers is true.',
      access,
      params: z.strictObject({ teamId: Id, includeMembers: z.boolean() }),
      result: z.object({ group: ScimGroup }),
      example: { teamId, includeMembers: true },
    }),
    list: scimOperation({
      name: 'scim.groups.list',
      effect: 'read',
      summary: 'Find teams',
      description:
        'In the order in which they were created. Members are included only if includeMembers is true.',
      access,
      params: z.strictObject({ ...pageRange, includeMembers: z.boolean() }),
      result: pageOf(ScimGroup),
      example: { startIndex: 1, count: 10, includeMembers: false },
    }),
    update: scimOperation({
      name: 'scim.groups.update',
      effect: 'write',
      idempotent: true,
      summary: 'Rename a team, or change its members',
      description: 'A resource replaces all members; other attributes that are left out keep their values.',
      access,
      params: z.strictObject({ teamId: Id, ...sentChange }),
      result: z.object({ group: ScimGroup }),
      refusals: ['already_exists'],
      emits: ['team.updated', 'team.memberAdded', 'team.memberRemoved'],
      example: { teamId, operations: [{ op: 'add', path: 'members', value: [{ value: memberId }] }] },
    }),
    delete: scimOperation({
      name: 'scim.groups.delete',
      effect: 'write',
      idempotent: true,
      destructive: true,
      summary: 'Delete a team',
      description: 'Its members stay members of the organization.',
      access,
      params: z.strictObject({ teamId: Id }),
      result: Deleted,
      emits: ['team.deleted'],
      example: { teamId },
    }),
  },
};
