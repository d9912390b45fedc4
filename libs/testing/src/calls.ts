/** Calls operations from a spec. The pipeline executes them as for a transport, without HTTP. */
import {
  createClientOf,
  errorOf,
  type OperationKind,
  type KindNamespace,
  kindOf,
  type KindTree,
  type Transport,
} from '@muster/client-core';
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
import { type CallSetUp, type OperationsOf, type TestClient } from './world.ts';

export interface Calls<Handlers> {
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
  /** Returns the bearer's typed client, whose methods call the handlers. */
  readonly clientOf: (secret: string) => TestClient<Handlers>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the functions that call the given handlers on a database. The given reactions handle the events of
 * the calls.
 */
export function openCalls<Handlers extends object>(
  database: TestDatabase,
  handlers: Handlers,
  reactions: readonly EventReaction[],
): Calls<Handlers> {
  const byName = handlersByOperation(handlers);
  const authenticator = createAuthenticator(database.app);
  const followers = createFollowers(database.app, () => undefined);

  const run: Calls<Handlers>['run'] = async (
    secret,
    handler,
    params,
    { idempotencyKey, pool, maxPageBytes },
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
    const environment = { handlers: byName, reactions, maxPageBytes };
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

  const kinds = kindsByName([...byName.values()]);
  return {
    run,
    clientOf: (secret) =>
      createClientOf(kinds as KindNamespace & KindTree<OperationsOf<Handlers>>, transportOf(secret)),
    close: async () => {
      followers.close();
      await authenticator.close();
    },
  };
}

interface MutableKinds {
  [word: string]: OperationKind | MutableKinds;
}

/** Returns the kinds of the handlers' operations, in a tree of the operations' names. */
function kindsByName(handlers: readonly Handler[]): KindNamespace {
  const root: MutableKinds = {};
  for (const { operation } of handlers) {
    let namespace = root;
    for (const word of operation.namespace.split('.')) namespace = (namespace[word] ??= {}) as MutableKinds;
    namespace[operation.name.slice(operation.namespace.length + 1)] = kindOf(operation);
  }
  return root;
}
