/**
 * The definition of an operation. The registry consists of operations, and every surface is derived from it.
 */
import { type z } from 'zod';
import { type Access, type Ground, orgRank, type Scope, type TargetParam, targetKinds } from './access.ts';

import { type EventKind } from './events.ts';
import { type PersonPath, personPathsIn } from './person-params.ts';
import { type RuleReason } from './reasons.ts';

export type Effect = 'read' | 'write';

/** The surfaces on which an operation can be offered. `tool` is a tool for language models. */
export const surfaces = ['http', 'client', 'cli', 'tool'] as const;
export type Surface = (typeof surfaces)[number];

/**
 * The surfaces of an operation that is not offered to language models, because each tool in their list costs
 * tokens.
 */
export const surfacesWithoutTool: readonly Surface[] = ['http', 'client', 'cli'];

interface OperationDefinition<
  Name extends string,
  E extends Effect,
  Params extends z.ZodObject,
  Result extends z.ZodObject,
  Refusal extends RuleReason,
  Emitted extends EventKind,
  Grounds extends Ground,
> {
  /** The name in the form `<namespace>.<verb>`. The path is the name with slashes. */
  readonly name: Name;
  readonly effect: E;
  /** One line in the imperative, without a full stop. */
  readonly summary: string;
  /** Additional search words that neither the name nor the summary contains. */
  readonly keywords?: string;
  /** A description of the operation's effect and of special cases, in plain sentences. */
  readonly description: string;
  readonly access: Access<Grounds>;
  readonly params: Params;
  readonly result: Result;
  /** The reasons of refusals (409, 422) that the handler may return. */
  readonly refusals?: readonly Refusal[];
  /** The events that the handler may emit. */
  readonly emits?: readonly Emitted[];
  /**
   * Parameters that are valid for the demo organization. The whole-API test calls the operation with them.
   */
  readonly example: z.input<NoInfer<Params>>;
  /**
   * True if repeating a call with the same parameters changes nothing more, and succeeds or is refused. All
   * reads are idempotent. A write is idempotent only if its definition says so.
   */
  readonly idempotent?: boolean;
  /** True if the operation deletes data that a person may miss afterwards. */
  readonly destructive?: boolean;
  /** True if a refusal for missing rights is recorded in the audit log too. */
  readonly auditsRefusal?: boolean;
  /** True if only the member may call the operation. Tokens of agents are refused. */
  readonly byMemberOnly?: boolean;
  /**
   * True if the operation is so sensitive that a session must have confirmed the member's identity recently.
   */
  readonly needsProof?: boolean;
  /**
   * True if the operation reads the member's inbox. An agent's token is refused unless its member allowed the
   * agent to read the inbox.
   */
  readonly readsInbox?: boolean;
  /**
   * True if a token bound to projects may call the operation although it names no record in a project. The
   * operation affects only data that such a token can see.
   */
  readonly staysInProjects?: boolean;
  /**
   * True if the operation may write into an archived project. A write of any other operation there is refused
   * and rolled back.
   */
  readonly reachesArchived?: boolean;
  /**
   * True if the operation only renews a lease. Called by its own path, it is answered even if all request
   * slots are occupied, and it has its own rate limit.
   */
  readonly isRenewal?: boolean;
  /** The surfaces on which the operation is offered; all by default. */
  readonly surfaces?: readonly Surface[];
  /** True if the target is a deleted story, which no other operation finds. */
  readonly targetsDeleted?: boolean;
  /** The maximum body in bytes, if the general limit of 256 KiB is too small. */
  readonly bodyLimit?: number;
  /** The field of the result that must never be readable again. It is not stored with an Idempotency-Key. */
  readonly secret?: keyof z.output<Result> & string;
  /** The parameter that names the target record in calls that omit the first target parameter. */
  readonly alternativeTarget?: TargetParam;
}

export interface Operation<
  Name extends string = string,
  E extends Effect = Effect,
  Params extends z.ZodObject = z.ZodObject,
  Result extends z.ZodObject = z.ZodObject,
  Refusal extends RuleReason = RuleReason,
  Emitted extends EventKind = EventKind,
  Grounds extends Ground = Ground,
> extends Omit<
  OperationDefinition<Name, E, Params, Result, Refusal, Emitted, Grounds>,
  'secret' | 'staysInProjects' | 'alternativeTarget'
> {
  readonly keywords: string;
  readonly refusals: readonly Refusal[];
  readonly emits: readonly Emitted[];
  readonly idempotent: boolean;
  readonly destructive: boolean;
  readonly auditsRefusal: boolean;
  readonly byMemberOnly: boolean;
  readonly needsProof: boolean;
  readonly readsInbox: boolean;
  /**
   * True if a token bound to projects may call the operation. Such a token must not reach the organization's
   * own data.
   */
  readonly takesBoundTokens: boolean;
  readonly reachesArchived: boolean;
  readonly isRenewal: boolean;
  readonly targetsDeleted: boolean;
  readonly surfaces: readonly Surface[];
  readonly bodyLimit: number;
  readonly secret: string | null;
  /** The operation's name without its last part. */
  readonly namespace: string;
  /** The scope that a token needs. */
  readonly scope: Scope;
  /**
   * The parameter that names the target record; the record's project decides the caller's role. Null if no
   * project is involved.
   */
  readonly target: TargetParam | null;
  readonly alternativeTarget: TargetParam | null;
  /** The paths of parameters that name members and agents, and accept a handle or a slug. */
  readonly personPaths: readonly PersonPath[];
}

/** 256 KiB: the maximum body of an operation that states no other limit. */
export const defaultBodyLimitBytes = 256 * 1024;
export const largeBodyLimitBytes = 1024 * 1024;
export const bulkBodyLimitBytes = 8 * 1024 * 1024;

const isTargetParam = (param: string): param is TargetParam => Object.hasOwn(targetKinds, param);

function scopeOf(access: Access, effect: Effect): Scope {
  if (access.kind === 'platform') return 'platform';
  if (access.kind === 'org' && (access.role === 'admin' || access.role === 'owner')) return 'admin';
  return effect;
}

/** Returns true if an operation without a project is a read that any member may call. */
const isReadForAnyMember = (access: Access, effect: Effect): boolean =>
  effect === 'read' &&
  (access.kind === 'self' || (access.kind === 'org' && orgRank(access.role) < orgRank('admin')));

/** Defines an operation. Everything that can be derived from the definition is computed here once, at start-up. */
export function operation<
  const Name extends string,
  const E extends Effect,
  Params extends z.ZodObject,
  Result extends z.ZodObject,
  const Refusal extends RuleReason = never,
  const Emitted extends EventKind = never,
  const Grounds extends Ground = never,
>({
  staysInProjects = false,
  ...statement
}: OperationDefinition<Name, E, Params, Result, Refusal, Emitted, Grounds>): Operation<
  Name,
  E,
  Params,
  Result,
  Refusal,
  Emitted,
  Grounds
> {
  const target =
    statement.access.kind === 'project' ? Object.keys(statement.params.shape).find(isTargetParam) : undefined;
  return {
    ...statement,
    keywords: statement.keywords ?? '',
    refusals: statement.refusals ?? [],
    emits: statement.emits ?? [],
    idempotent: statement.idempotent ?? statement.effect === 'read',
    destructive: statement.destructive ?? false,
    auditsRefusal: statement.auditsRefusal ?? false,
    byMemberOnly: statement.byMemberOnly ?? false,
    needsProof: statement.needsProof ?? false,
    readsInbox: statement.readsInbox ?? false,
    takesBoundTokens:
      target !== undefined || staysInProjects || isReadForAnyMember(statement.access, statement.effect),
    reachesArchived: statement.reachesArchived ?? false,
    isRenewal: statement.isRenewal ?? false,
    targetsDeleted: statement.targetsDeleted ?? false,
    surfaces: statement.surfaces ?? surfaces,
    bodyLimit: statement.bodyLimit ?? defaultBodyLimitBytes,
    secret: statement.secret ?? null,
    namespace: statement.name.slice(0, statement.name.lastIndexOf('.')),
    scope: scopeOf(statement.access, statement.effect),
    target: target ?? null,
    alternativeTarget: statement.alternativeTarget ?? null,
    personPaths: personPathsIn(statement.params),
  };
}

export type ParamsOf<O extends Operation> = z.output<O['params']>;
export type InputOf<O extends Operation> = z.input<O['params']>;
export type ResultOf<O extends Operation> = z.output<O['result']>;
export type RefusalOf<O extends Operation> = O['refusals'][number];
export type EmittedOf<O extends Operation> = O['emits'][number];
/**
 * The grounds whose presence a handler must state for the record. `admin` is excluded, because the runtime
 * decides it.
 */
export type GroundOf<O extends Operation> =
  O extends Operation<string, Effect, z.ZodObject, z.ZodObject, RuleReason, EventKind, infer Grounds>
    ? Exclude<Grounds, 'admin'>
    : never;
