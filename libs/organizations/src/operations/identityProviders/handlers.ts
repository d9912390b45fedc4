import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { deleteOperation } from './delete.ts';
import { createListHandler } from './list.ts';
import { type IdentityProvidersConfig } from './set-up.ts';
import { createTestHandler } from './test.ts';
import { createUpsertHandler } from './upsert.ts';

export const createIdentityProviderHandlers = (config: IdentityProvidersConfig) =>
  ({
    list: createListHandler(config),
    upsert: createUpsertHandler(config),
    delete: deleteOperation,
    test: createTestHandler(config),
  }) satisfies HandlersOf<OrganizationsRegistry['identityProviders']>;
