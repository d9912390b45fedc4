import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { deleteOperation } from './delete.ts';
import { listWith } from './list.ts';
import { type IdentityProvidersSetUp } from './set-up.ts';
import { testWith } from './test.ts';
import { upsertWith } from './upsert.ts';

export const identityProvidersWith = (setUp: IdentityProvidersSetUp) =>
  ({
    list: listWith(setUp),
    upsert: upsertWith(setUp),
    delete: deleteOperation,
    test: testWith(setUp),
  }) satisfies HandlersOf<Registry['identityProviders']>;
