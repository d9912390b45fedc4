/** The definition of an operation of the operators' API. */
import { type z } from 'zod';
import { type MachineHasher } from '../activation/machine.ts';
import { getLicense, type License } from '../operators/license.ts';
import { type OperatorToken, type OperatorScope } from '../operators/tokens.ts';
import { type Db, RefusedError } from '../operators/transaction.ts';
import { type SecretSealer } from '../operators/webhooks.ts';
import { type OpenedVault } from '../vault.ts';
import { type WebhookDispatcher } from '../webhooks/courier.ts';

/** The context of an operation, which runs in one transaction. */
export interface OperationContext {
  readonly db: Db;
  readonly token: OperatorToken;
  readonly hasher: MachineHasher;
  readonly sealing: SecretSealer;
  /** The secrets that seal links. The first one seals; all of them open. */
  readonly secrets: readonly (string | Buffer)[];
  /** The public URL of this service, without a trailing slash. */
  readonly baseUrl: string;
  readonly webhooks: Pick<WebhookDispatcher, 'test'>;
  readonly opened: OpenedVault;
  /** The default validity of an answer to an offline machine. */
  readonly airGapSeconds: number;
}

export interface OperatorOperation<
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  /** The path below /api/operators/, such as `licenses/issue`. */
  readonly path: string;
  readonly scope: OperatorScope;
  readonly summary: string;
  readonly description?: string;
  readonly params: Params;
  readonly result: Result;
  /**
   * Runs the operation in a transaction. Returns the result, or a function that produces the result and is
   * called after the transaction has committed.
   */
  readonly run: (
    work: OperationContext,
    params: z.output<Params>,
  ) => Promise<z.input<Result> | (() => Promise<z.input<Result>>)>;
}

/** An operation without its parameter types. The caller validates the parameters with its schema first. */
export interface AnyOperation extends Omit<OperatorOperation, 'run'> {
  readonly run: (work: OperationContext, params: never) => Promise<unknown>;
}

export const defineOperation = <Params extends z.ZodType, Result extends z.ZodType>(
  definition: OperatorOperation<Params, Result>,
): AnyOperation => definition;

/** Reads the license with this ID. Throws `not_found` if it belongs to another product than the token. */
export async function getOwnLicense({ db, token }: OperationContext, id: string): Promise<License> {
  const license = await getLicense(db, { id });
  if (license.product !== token.product) throw new RefusedError('not_found', 'no license has this id');
  return license;
}
