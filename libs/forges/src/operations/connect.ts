import { newId } from '@muster/driver';
import { forgeHomeUrls, forgeNames } from '@muster/contract';
import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { getOrganizationKey } from '@muster/tenancy';
import {
  connectionSubject,
  connections,
  countConnections,
  getConnection,
  toConnection,
} from '../data/connections.ts';
import {
  type ForgesConfig,
  createSealedSecret,
  clearedCredentials,
  sealCredentials,
  recreateSetup,
  createSetup,
} from './set-up.ts';

const maxConnections = 50;

/** Removes the query, the fragment and the slash at the end of a URL. */
export const toForgeBaseUrl = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return (origin + pathname).replace(/\/+$/, '');
};

export const connectHandler = (config: ForgesConfig) =>
  handle(
    forgesRegistry.forges.connect,
    async ({ params, caller, db, access, emit, refuse }) => {
      const { kind, credentials } = params;
      const [{ at }, count, organizationKey] = await Promise.all([
        access(),
        countConnections(db),
        getOrganizationKey(db),
      ]);
      if (count >= maxConnections)
        throw refuse('limit_exceeded', { limit: 'forgeConnections', max: maxConnections });
      const id = newId();
      const { secret, sealedSecret: sealed } = createSealedSecret(config, { id, kind }, organizationKey);
      const sealedOnes =
        credentials === undefined
          ? clearedCredentials
          : sealCredentials(config, id, organizationKey, credentials);
      const connection = connections.make(
        {
          ...{ id, kind, secret: sealed, createdBy: caller.actor },
          name: params.name ?? forgeNames[kind],
          baseUrl: toForgeBaseUrl(params.baseUrl ?? forgeHomeUrls[kind] ?? ''),
          credentials: sealedOnes.credentials,
          credentialsKind: sealedOnes.credentials_kind,
          appId: sealedOnes.app_id,
        },
        at,
      );
      db.deferToCommit(connections.insert(connection));
      emit('forge.connected', connectionSubject(connection), { kind });
      return {
        connection: toConnection(connection),
        setup: createSetup(config, connection, organizationKey, secret),
      };
    },
    {
      reissueSecret: async ({ db }, kept) => {
        const connection = await getConnection(db, kept.connection.id);
        return { ...kept, setup: await recreateSetup(db, config, connection) };
      },
    },
  );
