import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { getOrganizationKey } from '@muster/tenancy';
import {
  connectionSubject,
  connections,
  getConnection,
  lockConnection,
  toConnection,
} from '../data/connections.ts';
import { resetCallsAndStatuses } from '../data/statuses.ts';
import { toForgeBaseUrl } from './connect.ts';
import {
  type ForgesConfig,
  createSealedSecret,
  clearedCredentials,
  sealCredentials,
  recreateSetup,
  createSetup,
} from './set-up.ts';

export const updateHandler = (config: ForgesConfig) =>
  handle(
    forgesRegistry.forges.update,
    async ({ params, db, access, emit }) => {
      const { connectionId, name, baseUrl, credentials, rotateSecret, expectedVersion } = params;
      const [{ at }, connection, organizationKey] = await Promise.all([
        access(),
        lockConnection(db, connectionId, expectedVersion),
        getOrganizationKey(db),
      ]);
      const { changed, fields } = connections.changed(
        connection,
        { name, baseUrl: baseUrl === undefined ? undefined : toForgeBaseUrl(baseUrl) },
        at,
      );
      // The credentials belong to the old forge, so they are deleted if the address changes and the caller
      // gives no new credentials.
      const isElsewhere = changed.base_url !== connection.base_url && credentials === undefined;
      const given = isElsewhere && connection.credentials_kind !== null ? null : credentials;
      const fresh = rotateSecret ? createSealedSecret(config, connection, organizationKey) : undefined;
      const changes = {
        name: changed.name,
        base_url: changed.base_url,
        ...(given === null && clearedCredentials),
        ...(given != null && sealCredentials(config, connection.id, organizationKey, given)),
        ...(fresh !== undefined && { secret: fresh.sealedSecret }),
      };
      const said = [
        ...fields,
        ...(given === undefined ? [] : ['credentials']),
        ...(rotateSecret ? ['secret'] : []),
      ];
      const setup =
        fresh === undefined
          ? null
          : createSetup(config, { ...connection, ...changes }, organizationKey, fresh.secret);
      if (said.length === 0) return { connection: toConnection(connection), setup };
      const after = connections.save(db, connection, changes, at);
      // Allow calls and send statuses again, because calls that the forge refused may succeed with the new
      // settings.
      for (const query of resetCallsAndStatuses(connection.id)) db.deferToCommit(query);
      emit('forge.updated', connectionSubject(after), { fields: said });
      return { connection: toConnection(after), setup };
    },
    {
      reissueSecret: async ({ db, params }, kept) => {
        if (!params.rotateSecret) return { ...kept, setup: null };
        const connection = await getConnection(db, kept.connection.id);
        return { ...kept, setup: await recreateSetup(db, config, connection) };
      },
    },
  );
