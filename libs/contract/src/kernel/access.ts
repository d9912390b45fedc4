/** The access rules of operations: roles, their order, and the scope that a token needs. */

/** The roles in an organization, from lowest to highest. The rank of a role is its index + 1. */
export const orgRoles = ['viewer', 'member', 'admin', 'owner'] as const;
export type OrgRole = (typeof orgRoles)[number];

/** The roles in a project, from lowest to highest. The rank of a role is its index + 1. */
export const projectRoles = ['viewer', 'contributor', 'lead'] as const;
export type ProjectRole = (typeof projectRoles)[number];

/**
 * The scopes of tokens. `admin` includes `write`, which includes `read`. Two scopes are separate: `platform` is
 * reserved for operators of the installation, and `scim` is for identity providers that manage members and teams.
 */
export const scopes = ['read', 'write', 'admin', 'platform', 'scim'] as const;
export type Scope = (typeof scopes)[number];
const separateScopes: readonly Scope[] = ['platform', 'scim'];

/**
 * A condition that an operation can require in addition to the role. It depends on the record, except for `admin`.
 */
export type Ground = 'admin' | 'teamLead' | 'sendsToFew' | 'author' | 'publisher' | 'holder' | 'projectLead';

export type Access<Grounds extends Ground = Ground> =
  | { readonly kind: 'org'; readonly role: OrgRole; readonly oneOf?: readonly Grounds[] }
  | { readonly kind: 'project'; readonly role: ProjectRole; readonly oneOf?: readonly Grounds[] }
  | { readonly kind: 'self' }
  | { readonly kind: 'platform' };

/** Requires at least this role in the organization. If grounds are given, one of them is required too. */
export const org = <const Grounds extends Ground = never>(
  role: OrgRole,
  ...oneOf: readonly Grounds[]
): Access<Grounds> => ({ kind: 'org', role, ...(oneOf.length > 0 && { oneOf }) });
/**
 * Requires at least this role in the project of the target record. If grounds are given, one of them is
 * required too.
 */
export const project = <const Grounds extends Ground = never>(
  role: ProjectRole,
  ...oneOf: readonly Grounds[]
): Access<Grounds> => ({ kind: 'project', role, ...(oneOf.length > 0 && { oneOf }) });
/** Allows any member, who acts only on their own data. */
export const selfAccess = (): Access<never> => ({ kind: 'self' });
/** Allows only operators of the installation. */
export const platformAccess = (): Access<never> => ({ kind: 'platform' });

/** Returns the grounds of an operation; an empty list if the role alone decides. */
export const groundsOf = <Grounds extends Ground>(access: Access<Grounds>): readonly Grounds[] =>
  'oneOf' in access ? (access.oneOf ?? []) : [];

export const orgRank = (role: OrgRole): number => orgRoles.indexOf(role) + 1;
export const projectRank = (role: ProjectRole): number => projectRoles.indexOf(role) + 1;
/** The rank of a member who may work on the stories of a project. */
export const contributorRank = projectRank('contributor');
/** The rank of a project lead. The creator of a project receives this role. */
export const leadRank = projectRank('lead');

/**
 * Returns the role that the scopes allow: without the scope `admin`, an admin acts as a member. An identity provider
 * acts with the role of the admin who created its token.
 */
export const effectiveOrgRole = (role: OrgRole, tokenScopes: readonly Scope[]): OrgRole =>
  orgRank(role) < orgRank('admin') || scopeCovers(tokenScopes, 'admin') || scopeCovers(tokenScopes, 'scim')
    ? role
    : 'member';

/** Returns true if a token with these scopes may call an operation that requires the scope `needed`. */
export function scopeCovers(heldScopes: readonly Scope[], neededScope: Scope): boolean {
  if (separateScopes.includes(neededScope)) return heldScopes.includes(neededScope);
  return heldScopes.some(
    (scope) => !separateScopes.includes(scope) && scopes.indexOf(scope) >= scopes.indexOf(neededScope),
  );
}

/**
 * The parameters that name a record inside a project. The first of them in an operation's declaration is its
 * target: the project of that record decides the caller's role. If a parameter can name several kinds of
 * records, the parameter before it gives the kind.
 */
export const targetKinds = {
  projectId: 'project',
  storyId: 'story',
  columnId: 'column',
  epicId: 'epic',
  commentId: 'comment',
  accessRequestId: 'accessRequest',
  executionId: 'execution',
  lockId: 'lock',
  groupId: 'deliveryGroup',
  importId: 'import',
  planId: 'plan',
  attachmentId: 'attachment',
  targetId: {
    saidBy: 'targetType',
    kinds: {
      story: 'story',
      epic: 'epic',
      delivery_group: 'deliveryGroup',
      comment: 'comment',
      execution: 'execution',
    },
  },
} as const;
export type TargetParam = keyof typeof targetKinds;
type TargetKindRule = (typeof targetKinds)[TargetParam];
type PolymorphicTarget = Exclude<TargetKindRule, string>;
export type TargetKind =
  | Extract<TargetKindRule, string>
  | PolymorphicTarget['kinds'][keyof PolymorphicTarget['kinds']];

/**
 * Returns the kind of record that the target parameter names in this call. For `targetId`, another parameter
 * gives the kind.
 */
export function targetKindOf(param: TargetParam, params: Readonly<Record<string, unknown>>): TargetKind {
  const named = targetKinds[param];
  if (typeof named === 'string') return named;
  const found = Object.entries(named.kinds).find(([type]) => type === params[named.saidBy]);
  if (found === undefined) throw new Error(`${named.saidBy} has no kind that ${param} can name`);
  return found[1];
}
