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

export type Access =
  | { readonly kind: 'org'; readonly role: OrgRole }
  | { readonly kind: 'project'; readonly role: ProjectRole }
  | { readonly kind: 'self' }
  | { readonly kind: 'platform' };

/** At least this role in the organization. */
export const org = (role: OrgRole): Access => ({ kind: 'org', role });
/** At least this role in the project that the first parameter's record belongs to. */
export const project = (role: ProjectRole): Access => ({ kind: 'project', role });
/** Any member, about themselves. */
export const self = (): Access => ({ kind: 'self' });
/** Operators of the installation. */
export const platform = (): Access => ({ kind: 'platform' });

export const orgRank = (role: OrgRole): number => orgRoles.indexOf(role) + 1;
export const projectRank = (role: ProjectRole): number => projectRoles.indexOf(role) + 1;

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
