/** Calls operations from a spec. The pipeline executes them as for a transport, without HTTP. */
import { errorOf, type Transport } from '@muster/client';
import { newId } from '@muster/driver';
import {
  type OperationResponse,
  handlersByOperation,
  createAuthenticator,
  execute,
  executeWithWaits,
  type Handler,
  type EventReaction,
  toApiError,
} from '@muster/runtime';
import { createFollowers } from '@muster/tenancy';
import { type TestDatabase } from './database.ts';
import { type CallSetUp } from './world.ts';

export interface Calls {
  /**
   * Executes a handler for the bearer of the token. If the answer has to wait for a stream, waits and
   * executes the handler again.
   */
  readonly run: (
    secret: string,
    handler: Handler,
    params: unknown,
    setUp: CallSetUp,
    requestId?: string,
  ) => Promise<OperationResponse>;
  /**
   * Returns the transport of the bearer's typed client. It calls the handlers by the names of their
   * operations.
   */
  readonly transportOf: (secret: string) => Transport;
  readonly close: () => Promise<void>;
}

/**
 * Opens the functions that call the given handlers on a database. The given reactions handle the events of
 * the calls.
 */
export function openCalls(
  database: TestDatabase,
  handlers: object,
  reactions: readonly EventReaction[],
): Calls {
  const byName = handlersByOperation(handlers);
  const authenticator = createAuthenticator(database.app);
  const followers = createFollowers(database.app, () => undefined);

  const run: Calls['run'] = async (
    secret,
    handler,
    params,
    { idempotencyKey, pool, mostPageBytes },
    requestId = newId(),
  ) => {
    const call = {
      token: await authenticator.authenticate(secret),
      // Converts the parameters to JSON and back, as a transport does.
      params: JSON.parse(JSON.stringify(params)) as unknown,
      requestId,
      idempotencyKey: idempotencyKey ?? null,
      ip: '127.0.0.1',
      userAgent: 'spec',
    };
    const environment = { handlers: byName, reactions, mostPageBytes };
    return executeWithWaits(
      (isLastAttempt) => execute(pool ?? database.app, handler, { ...call, isLastAttempt }, environment),
      async ({ position, timeoutSeconds }) =>
        (await followers.wait(call.token.identity, position, timeoutSeconds)) ? 'advanced' : 'timed_out',
    );
  };

  const transportOf =
    (secret: string): Transport =>
    async (operation, params, { idempotencyKey }) => {
      const requestId = newId();
      const handler = byName.get(operation.name);
      if (handler === undefined) throw new Error(`this world has no handler for ${operation.name}`);
      try {
        const setUp = idempotencyKey === undefined ? {} : { idempotencyKey };
        return JSON.parse((await run(secret, handler, params, setUp, requestId)).json) as unknown;
      } catch (error) {
        const known = toApiError(error);
        if (known.code === 'internal') throw error;
        throw errorOf(known.toBody(requestId));
      }
    };

  return {
    run,
    transportOf,
    close: async () => {
      followers.close();
      await authenticator.close();
    },
  };
}
