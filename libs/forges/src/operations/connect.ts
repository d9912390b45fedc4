import { newId } from '@muster/driver';
import { forgeHomes, forgeNames, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getOrganizationKey } from '@muster/tenancy';
import {
  aboutConnection,
  connections,
  countConnections,
  getConnection,
  toConnection,
} from '../data/connections.ts';
import {
  type ForgesSetUp,
  freshSecret,
  noCredentials,
  sealedCredentials,
  setupAgain,
  setupOf,
} from './set-up.ts';

const mostConnections = 50;

/** Removes the query, the fragment and the slash at the end of a URL. */
export const bareUrl = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return (origin + pathname).replace(/\/+$/, '');
};

export const connect = (setUp: ForgesSetUp) =>
  handle(
    registry.forges.connect,
    async ({ params, caller, db, access, emit, refuse }) => {
      const { kind, credentials } = params;
      const [{ at }, count, organizationKey] = await Promise.all([
        access(),
        countConnections(db),
        getOrganizationKey(db),
      ]);
      if (count >= mostConnections) {
        throw refuse('limit_exceeded', { limit: 'forgeConnections', max: mostConnections });
      }
      const id = newId();
      const { secret, sealed } = freshSecret(setUp, { id, kind }, organizationKey);
      const sealedOnes =
        credentials === undefined
          ? noCredentials
          : sealedCredentials(setUp, id, organizationKey, credentials);
      const connection = connections.make(
        {
          ...{ id, kind, secret: sealed, createdBy: caller.actor },
          name: params.name ?? forgeNames[kind],
          baseUrl: bareUrl(params.baseUrl ?? forgeHomes[kind] ?? ''),
          credentials: sealedOnes.credentials,
          credentialsKind: sealedOnes.credentials_kind,
          appId: sealedOnes.app_id,
        },
        at,
      );
      db.later(connections.insert(connection));
      emit('forge.connected', aboutConnection(connection), { kind });
      return {
        connection: toConnection(connection),
        setup: setupOf(setUp, connection, organizationKey, secret),
      };
    },
    {
      reissue: async ({ db }, kept) => {
        const connection = await getConnection(db, kept.connection.id);
        return { ...kept, setup: await setupAgain(db, setUp, connection) };
      },
    },
  );
