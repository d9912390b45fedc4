import { expect, it } from '@jest/globals';
import { renderPage } from './page.ts';

const token = `must_live_${'x'.repeat(40)}`;
const facts = {
  consoleUrl: 'http://127.0.0.1:4100/console/',
  baseUrl: 'http://127.0.0.1:4100',
  mcpUrl: 'http://127.0.0.1:4100/api/mcp',
  licenseUrl: 'http://127.0.0.1:4102',
  licenseKey: 'MSTR1-00000-00000-00000-00000-00000',
  signInUrl: 'http://127.0.0.1:4100/sign-in',
  docsUrl: 'http://127.0.0.1:4104',
  workerUrl: 'http://127.0.0.1:4103',
  databaseUrl: `postgres://postgres:${'x'.repeat(24)}@127.0.0.1:26830/postgres`,
  redisUrl: 'redis://127.0.0.1:15790',
  orgSlug: 'acme',
  projectKey: 'WEB',
  tokens: { owner: token, admin: token, member: token, viewer: token, agent: token, platform: token },
  pid: 1,
  startedAt: '2026-11-21T09:30:00.000Z',
};

it('ends with the addresses, all of them in view on a terminal of 80 by 24', () => {
  const rows = renderPage(facts)
    .split('\n')
    .flatMap((line) => (line === '' ? [''] : (line.match(/.{1,80}/g) ?? [])));
  const screen = rows.slice(-24).join('\n');
  expect(screen).toContain('Muster is up.');
  for (const address of [facts.consoleUrl, facts.mcpUrl, facts.docsUrl, facts.redisUrl])
    expect(screen).toContain(address);
});
