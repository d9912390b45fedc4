/** Tests the day of three agents and two people that only use MCP, on a temporary instance: npm run tour -- --mcp. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Instance, startInstance } from '../instance.ts';
import { spendAgentDay } from './day.ts';

let instance: Instance;

beforeAll(async () => {
  instance = await startInstance();
}, 120_000);
afterAll(() => instance.stop());

it('runs in core mode without a person, in at most 15 calls and 4,500 tokens', async () => {
  const checks = await spendAgentDay(instance, 'agent-day');
  expect(checks.filter(({ holds }) => !holds)).toEqual([]);
  expect(checks).toHaveLength(4);
}, 120_000);
