/** Who may call an operation: roles, the order among them, and the scope a token needs. */

/** Organization roles from least to most; a rank is the position + 1. */
export const orgRoles = ['viewer', 'member', 'admin', 'owner'] as const;
export type OrgRole = (typeof orgRoles)[number];

/** Project roles from least to most; a rank is the position + 1. */
export const projectRoles = ['viewer', 'contributor', 'lead'] as const;
export type ProjectRole = (typeof projectRoles)[number];

/** Token scopes; `admin` includes `write` includes `read`; `platform` stands apart and is for operators of the installation. */
export const scopes = ['read', 'write', 'admin', 'platform'] as const;
export type Scope = (typeof scopes)[number];

/** What lets one do it where the role alone does not: the record says, except for `admin`. */
export type Ground = 'admin' | 'teamLead' | 'sendsToFew' | 'author' | 'publisher' | 'holder' | 'projectLead';

export type Access<Grounds extends Ground = Ground> =
  | { readonly kind: 'org'; readonly role: OrgRole; readonly oneOf?: readonly Grounds[] }
  | { readonly kind: 'project'; readonly role: ProjectRole; readonly oneOf?: readonly Grounds[] }
  | { readonly kind: 'self' }
  | { readonly kind: 'platform' };

/** At least this role in the organization; and, where grounds are named, one of those. */
export const org = <const Grounds extends Ground = never>(
  role: OrgRole,
  ...oneOf: readonly Grounds[]
): Access<Grounds> => ({ kind: 'org', role, ...(oneOf.length > 0 && { oneOf }) });
/** At least this role in the project that the first parameter's record belongs to; and one of the grounds named. */
export const project = <const Grounds extends Ground = never>(
  role: ProjectRole,
  ...oneOf: readonly Grounds[]
): Access<Grounds> => ({ kind: 'project', role, ...(oneOf.length > 0 && { oneOf }) });
/** Any member, about themselves. */
export const self = (): Access<never> => ({ kind: 'self' });
/** Operators of the installation. */
export const platform = (): Access<never> => ({ kind: 'platform' });

/** The grounds that an operation names; none where the role is all. */
export const groundsOf = <Grounds extends Ground>(access: Access<Grounds>): readonly Grounds[] =>
  'oneOf' in access ? (access.oneOf ?? []) : [];

export const orgRank = (role: OrgRole): number => orgRoles.indexOf(role) + 1;
export const projectRank = (role: ProjectRole): number => projectRoles.indexOf(role) + 1;
/** Of who brings a project into being, among others. */
export const leadRank = projectRank('lead');

/** The role as far as the scopes reach: without the scope `admin` an admin acts as a member. */
export const actingRole = (role: OrgRole, held: readonly Scope[]): OrgRole =>
  orgRank(role) < orgRank('admin') || scopeCovers(held, 'admin') ? role : 'member';

/** Whether a token with these scopes may do what needs `needed`. */
export function scopeCovers(held: readonly Scope[], needed: Scope): boolean {
  if (needed === 'platform') return held.includes('platform');
  return held.some((scope) => scope !== 'platform' && scopes.indexOf(scope) >= scopes.indexOf(needed));
}

/**
 * The parameters that name a record inside a project. The first one an operation declares is its target: the
 * project of that record decides the caller's role. Where it can name several kinds, the parameter before says which.
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
  targetId: {
    saidBy: 'targetType',
    kinds: { story: 'story', epic: 'epic', delivery_group: 'deliveryGroup' },
  },
} as const;
export type TargetParam = keyof typeof targetKinds;
type Named = (typeof targetKinds)[TargetParam];
type Polymorphic = Exclude<Named, string>;
export type TargetKind = Extract<Named, string> | Polymorphic['kinds'][keyof Polymorphic['kinds']];

/** The kind of record that the target parameter names in this call; another parameter may be the one that says it. */
export function targetKindOf(param: TargetParam, params: Readonly<Record<string, unknown>>): TargetKind {
  const named = targetKinds[param];
  if (typeof named === 'string') return named;
  const found = Object.entries(named.kinds).find(([type]) => type === params[named.saidBy]);
  if (found === undefined) throw new Error(`${named.saidBy} says none of the kinds that ${param} can name`);
  return found[1];
}
