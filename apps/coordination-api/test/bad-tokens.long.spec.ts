/**
 * Every operation with every kind of invalid token. `loops.spec.ts` tests every path with one kind, and five
 * operations with all kinds.
 */
import { it } from '@jest/globals';
import { operations } from '@muster/registry';
import { checkEachCase } from '@muster/testing';
import { createExampleOrg } from '@muster/examples';
import { useApi } from './api.ts';
import { refusesBadTokens } from './bad-tokens.ts';

const api = useApi();

it('refuses no token, a bad one, an unknown, a revoked and an expired one, all alike', async () => {
  const org = await createExampleOrg(api.world);
  await checkEachCase([...operations], (operation) => refusesBadTokens(api, org, operation));
}, 300_000);
