/** What an operation is. The registry is made of these, and every surface is derived from them. */
import { type z } from 'zod';
import { type Access, type Ground, orgRank, type Scope, type TargetParam, targetKinds } from './access.ts';

import { type EventKind } from './events.ts';
import { type PersonPath, personPathsIn } from './person-params.ts';
import { type RuleReason } from './reasons.ts';

export type Effect = 'read' | 'write';

/** Where an operation can be offered; `tool` is as a tool for models. */
export const surfaces = ['http', 'client', 'cli', 'tool'] as const;
export type Surface = (typeof surfaces)[number];

/** Of an operation that models are not offered: a list of tools is read by the token. */
export const notAsTool: readonly Surface[] = ['http', 'client', 'cli'];

interface Statement<
  Name extends string,
  E extends Effect,
  Params extends z.ZodObject,
  Result extends z.ZodObject,
  Refusal extends RuleReason,
  Emitted extends EventKind,
  Grounds extends Ground,
> {
  /** `<namespace>.<verb>`; its path is the same with slashes. */
  readonly name: Name;
  readonly effect: E;
  /** One line, imperative, without a full stop. */
  readonly summary: string;
  /** Words by which people look for it and that neither name nor summary has. */
  readonly keywords?: string;
  /** What it does, what is special about it; plain sentences. */
  readonly description: string;
  readonly access: Access<Grounds>;
  readonly params: Params;
  readonly result: Result;
  /** The refusals (409, 422) that the handler may give. */
  readonly refusals?: readonly Refusal[];
  /** The events that the handler may say happened. */
  readonly emits?: readonly Emitted[];
  /** Parameters that work against the demo organization's shape; the whole-API test calls it. */
  readonly example: z.input<NoInfer<Params>>;
  /** Called again with the same parameters it changes nothing more, and answers or is refused. Any read does; a write only where said. */
  readonly idempotent?: boolean;
  /** It takes away what a person may miss. */
  readonly destructive?: boolean;
  /** A refusal for lack of rights leaves an audit entry too. */
  readonly auditsRefusal?: boolean;
  /** The member's own to do: an agent's token is refused. */
  readonly byMemberOnly?: boolean;
  /** Dangerous in the wrong hands: a session has to have proven lately whose it is. */
  readonly needsProof?: boolean;
  /** Reads the member's inbox: an agent's token is refused unless its member let the agent. */
  readonly readsInbox?: boolean;
  /** It names no record in a project, and yet touches only what a token that is bound to projects sees. */
  readonly staysInProjects?: boolean;
  /** May write into an archived project; any other write there is refused before anything of it stays. */
  readonly reachesArchived?: boolean;
  /** Only keeps a lease: on its own path it is answered also when there is no place for others, and is counted apart. */
  readonly isRenewal?: boolean;
  /** Where it is offered; everywhere unless said. */
  readonly surfaces?: readonly Surface[];
  /** Largest body in bytes, where the general 256 KiB is too little. */
  readonly bodyLimit?: number;
  /** The field of the result that no caller may ever read again; it is not kept with an Idempotency-Key. */
  readonly secret?: keyof z.output<Result> & string;
}

export interface Operation<
  Name extends string = string,
  E extends Effect = Effect,
  Params extends z.ZodObject = z.ZodObject,
  Result extends z.ZodObject = z.ZodObject,
  Refusal extends RuleReason = RuleReason,
  Emitted extends EventKind = EventKind,
  Grounds extends Ground = Ground,
> extends Omit<Statement<Name, E, Params, Result, Refusal, Emitted, Grounds>, 'secret' | 'staysInProjects'> {
  readonly keywords: string;
  readonly refusals: readonly Refusal[];
  readonly emits: readonly Emitted[];
  readonly idempotent: boolean;
  readonly destructive: boolean;
  readonly auditsRefusal: boolean;
  readonly byMemberOnly: boolean;
  readonly needsProof: boolean;
  readonly readsInbox: boolean;
  /** Whether a token that is bound to projects may call it: it has no business with the organization's own affairs. */
  readonly takesBoundTokens: boolean;
  readonly reachesArchived: boolean;
  readonly isRenewal: boolean;
  readonly surfaces: readonly Surface[];
  readonly bodyLimit: number;
  readonly secret: string | null;
  /** The first part of the name. */
  readonly namespace: string;
  /** The token scope it needs. */
  readonly scope: Scope;
  /** The parameter whose record's project decides the caller's role; null where no project is involved. */
  readonly target: TargetParam | null;
  /** The parameters that name members and agents, which may do so by handle or slug. */
  readonly personPaths: readonly PersonPath[];
}

/** 256 KiB, the largest body unless an operation says otherwise. */
export const generalBodyLimit = 256 * 1024;
export const largeBodyLimit = 1024 * 1024;
export const bulkBodyLimit = 8 * 1024 * 1024;

const isTargetParam = (param: string): param is TargetParam => Object.hasOwn(targetKinds, param);

function scopeOf(access: Access, effect: Effect): Scope {
  if (access.kind === 'platform') return 'platform';
  if (access.kind === 'org' && (access.role === 'admin' || access.role === 'owner')) return 'admin';
  return effect;
}

/** Without a project: what any member reads, and nothing that changes the organization or is for its admins. */
const isOpenRead = (access: Access, effect: Effect): boolean =>
  effect === 'read' &&
  (access.kind === 'self' || (access.kind === 'org' && orgRank(access.role) < orgRank('admin')));

/** States an operation; everything that follows from the statement is worked out here, once, at start-up. */
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
}: Statement<Name, E, Params, Result, Refusal, Emitted, Grounds>): Operation<
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
      target !== undefined || staysInProjects || isOpenRead(statement.access, statement.effect),
    reachesArchived: statement.reachesArchived ?? false,
    isRenewal: statement.isRenewal ?? false,
    surfaces: statement.surfaces ?? surfaces,
    bodyLimit: statement.bodyLimit ?? generalBodyLimit,
    secret: statement.secret ?? null,
    namespace: statement.name.slice(0, statement.name.lastIndexOf('.')),
    scope: scopeOf(statement.access, statement.effect),
    target: target ?? null,
    personPaths: personPathsIn(statement.params),
  };
}

export type ParamsOf<O extends Operation> = z.output<O['params']>;
export type InputOf<O extends Operation> = z.input<O['params']>;
export type ResultOf<O extends Operation> = z.output<O['result']>;
export type RefusalOf<O extends Operation> = O['refusals'][number];
export type EmittedOf<O extends Operation> = O['emits'][number];
/** What a handler says of the record; `admin` is not its to say. */
export type GroundOf<O extends Operation> =
  O extends Operation<string, Effect, z.ZodObject, z.ZodObject, RuleReason, EventKind, infer Grounds>
    ? Exclude<Grounds, 'admin'>
    : never;
