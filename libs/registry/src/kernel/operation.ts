/** What an operation is. The registry is made of these, and every surface is derived from them. */
import { type z } from 'zod';
import { type Access, type Scope, type TargetParam, targetKinds } from './access.ts';
import { type Reason } from './errors.ts';
import { type EventKind } from './events.ts';

export type Effect = 'read' | 'write';

interface Statement<
  Name extends string,
  E extends Effect,
  Params extends z.ZodObject,
  Result extends z.ZodObject,
  Refusal extends Reason,
  Emitted extends EventKind,
> {
  /** `<namespace>.<verb>`; its path is the same with slashes. */
  readonly name: Name;
  readonly effect: E;
  /** One line, imperative, without a full stop. */
  readonly summary: string;
  /** What it does, what is special about it; plain sentences. */
  readonly description: string;
  readonly access: Access;
  readonly params: Params;
  readonly result: Result;
  /** The refusals (409, 422) that the handler may give. */
  readonly refusals?: readonly Refusal[];
  /** The events that the handler may say happened. */
  readonly emits?: readonly Emitted[];
  /** Parameters that work against the demo organization's shape; the whole-API test calls it. */
  readonly example: z.input<NoInfer<Params>>;
  /** A refusal for lack of rights leaves an audit entry too. */
  readonly auditsRefusal?: boolean;
  /** May write into an archived project; any other write there is refused before anything of it stays. */
  readonly reachesArchived?: boolean;
  /** Only keeps a lease: on its own path it is answered also when there is no place for others, and is counted apart. */
  readonly isRenewal?: boolean;
  /** Largest body in bytes, where the general 256 KiB is too little. */
  readonly bodyLimit?: number;
  /** The field of the result that nobody may ever read again; it is not kept with an Idempotency-Key. */
  readonly secret?: keyof z.output<Result> & string;
}

export interface Operation<
  Name extends string = string,
  E extends Effect = Effect,
  Params extends z.ZodObject = z.ZodObject,
  Result extends z.ZodObject = z.ZodObject,
  Refusal extends Reason = Reason,
  Emitted extends EventKind = EventKind,
> extends Omit<Statement<Name, E, Params, Result, Refusal, Emitted>, 'secret'> {
  readonly refusals: readonly Refusal[];
  readonly emits: readonly Emitted[];
  readonly auditsRefusal: boolean;
  readonly reachesArchived: boolean;
  readonly isRenewal: boolean;
  readonly bodyLimit: number;
  readonly secret: string | null;
  /** The first part of the name. */
  readonly namespace: string;
  /** The token scope it needs. */
  readonly scope: Scope;
  /** The parameter whose record's project decides the caller's role; null where no project is involved. */
  readonly target: TargetParam | null;
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

/** States an operation; everything that follows from the statement is worked out here, once, at start-up. */
export function operation<
  const Name extends string,
  const E extends Effect,
  Params extends z.ZodObject,
  Result extends z.ZodObject,
  const Refusal extends Reason = never,
  const Emitted extends EventKind = never,
>(
  statement: Statement<Name, E, Params, Result, Refusal, Emitted>,
): Operation<Name, E, Params, Result, Refusal, Emitted> {
  const target =
    statement.access.kind === 'project' ? Object.keys(statement.params.shape).find(isTargetParam) : undefined;
  return {
    ...statement,
    refusals: statement.refusals ?? [],
    emits: statement.emits ?? [],
    auditsRefusal: statement.auditsRefusal ?? false,
    reachesArchived: statement.reachesArchived ?? false,
    isRenewal: statement.isRenewal ?? false,
    bodyLimit: statement.bodyLimit ?? generalBodyLimit,
    secret: statement.secret ?? null,
    namespace: statement.name.slice(0, statement.name.lastIndexOf('.')),
    scope: scopeOf(statement.access, statement.effect),
    target: target ?? null,
  };
}

export type ParamsOf<O extends Operation> = z.output<O['params']>;
export type InputOf<O extends Operation> = z.input<O['params']>;
export type ResultOf<O extends Operation> = z.output<O['result']>;
export type RefusalOf<O extends Operation> = O['refusals'][number];
export type EmittedOf<O extends Operation> = O['emits'][number];
