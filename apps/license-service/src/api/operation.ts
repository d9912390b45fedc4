/** What each operation of the operators' API is made of. */
import { type z } from 'zod';
import { type MachineHasher } from '../activation/machine.ts';
import { getLicense, type License } from '../operators/license.ts';
import { type OperatorToken, type Scope } from '../operators/tokens.ts';
import { type Db, Refused } from '../operators/transaction.ts';
import { type Sealing } from '../operators/webhooks.ts';
import { type Opened } from '../vault.ts';
import { type Courier } from '../webhooks/courier.ts';

/** What an operation works with; all of it is one transaction. */
export interface Work {
  readonly db: Db;
  readonly token: OperatorToken;
  readonly hasher: MachineHasher;
  readonly sealing: Sealing;
  /** The first seals what is given out, all open. */
  readonly secrets: readonly (string | Buffer)[];
  /** Where people reach this service, without a slash at the end. */
  readonly baseUrl: string;
  readonly webhooks: Pick<Courier, 'test'>;
  readonly opened: Opened;
  /** How long a machine that never comes online may run by an answer, unless said. */
  readonly airGapSeconds: number;
}

export interface Operation<Params extends z.ZodType = z.ZodType, Result extends z.ZodType = z.ZodType> {
  /** `licenses/issue`: its path below /api/operators/. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly description?: string;
  readonly params: Params;
  readonly result: Result;
  /** What is done after the transaction, outside of it, is answered as a function. */
  readonly run: (
    work: Work,
    params: z.output<Params>,
  ) => Promise<z.input<Result> | (() => Promise<z.input<Result>>)>;
}

/** As it stands in the table of all: params were checked by its own schema before it is run. */
export interface AnyOperation extends Omit<Operation, 'run'> {
  readonly run: (work: Work, params: never) => Promise<unknown>;
}

export const operation = <Params extends z.ZodType, Result extends z.ZodType>(
  it: Operation<Params, Result>,
): AnyOperation => it;

/** The license of this id, where it is of the token's product. */
export async function ownLicense({ db, token }: Work, id: string): Promise<License> {
  const license = await getLicense(db, { id });
  if (license.product !== token.product) throw new Refused('not_found', 'no license has this id');
  return license;
}
