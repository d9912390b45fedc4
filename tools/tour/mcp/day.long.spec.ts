/** The day of an agent by MCP alone, on an instance of its own: npm run tour -- --mcp. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startThrowAwayApp, type ThrowAwayApp } from '../../dev/throw-away-app.ts';
import { bringUpInstance, type OwnInstance } from '../own-instance.ts';
import { spendAgentDay } from './day.ts';

let own: OwnInstance;
let gateway: ThrowAwayApp;

beforeAll(async () => {
  own = await bringUpInstance('for the spec', false);
  gateway = await startThrowAwayApp('mcp-gateway', {
    log: 'warn',
    environment: { COORDINATION_API_URL: own.instance.baseUrl },
  });
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await own.instance.stop();
});

it('goes by itself in core mode, in at most 15 calls and 30 KB', async () => {
  const checks = await spendAgentDay(own.instance, 'agent-day', `${gateway.url}/api/mcp`);
  expect(checks.filter(({ holds }) => !holds)).toEqual([]);
  expect(checks).toHaveLength(4);
}, 120_000);
