/** Tests settings that an owner and a colleague change at the same time. */
import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import { beforeEach, expect } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { intercept, journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

const refusal = (status: number, code: string) => ({
  ...{ status, contentType: 'application/json' },
  body: JSON.stringify({ code, message: 'Not now.', status, requestId: 'r', details: {} }),
});

export function settingsJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
  });

  journey('invites a colleague, which another admin sees at once and takes back', async () => {
    const [mine, theirs] = [
      await open(people.ana.me.token, '/settings/members'),
      await open(people.ben.me.token, '/settings/members'),
    ];
    await mine.getByRole('button', { name: 'Invite member' }).click();
    await mine.getByLabel('E-mail address').fill('noor@example.com');
    await mine.getByLabel('Role', { exact: true }).selectOption('viewer');
    await mine.getByRole('button', { name: 'Send invitation' }).click();
    await mine.locator('.notice', { hasText: 'noor@example.com was invited' }).waitFor();
    await theirs.getByRole('button', { name: 'Revoke noor@example.com' }).click();
    await mine.getByRole('heading', { name: 'Invitations' }).waitFor({ state: 'detached' });
    const { items } = await house.client(people.ana.me.token).invitations.list();
    expect(items.map(({ email, role, state }) => [email, role, state])).toEqual([
      ['noor@example.com', 'viewer', 'revoked'],
    ]);
  });

  journey('offers no one more than they may', async () => {
    const page = await open(people.chloe.me.token, '/settings/members');
    await page.getByText('Ana', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /Invite|Remove/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Seats' }).count()).toBe(0);
    await house.go(page, '/settings/policy');
    await page.getByText('Only admins can change the policy.').waitFor();
    expect(await page.getByLabel('Allow agents to review').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  });

  journey('changes a rule and the number of seats, and says first what the seats cost', async () => {
    const ana = house.client(people.ana.me.token);
    const page = await open(people.ana.me.token, '/settings/policy');
    await page.getByLabel('Approvals required to move a story to done').fill('2');
    await page.getByLabel('When a column is at its limit').selectOption('block');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.notice', { hasText: 'Saved' }).waitFor();
    expect((await ana.policy.get()).policy).toMatchObject({ requiredApprovals: 2, wipLimits: 'block' });
    await page.getByRole('link', { name: 'Seats' }).click();
    await page.getByRole('spinbutton', { name: 'Seats' }).fill('30');
    await page.getByRole('button', { name: 'Preview cost' }).click();
    await page.getByText(/^Charge for 30 seats/).waitFor();
    expect((await ana.billing.seatUsage()).usage.purchased).toBe(25);
    await page.getByRole('button', { name: 'Confirm change' }).click();
    await waitUntil(async () => (await ana.billing.seatUsage()).usage.purchased === 30);
  });

  journey('connects a channel of Slack for oneself, and removes it', async () => {
    const { devices } = house.client(people.chloe.me.token);
    const page = await open(people.chloe.me.token, '/settings/notifications');
    await page.getByText('No channels connected').waitFor();
    await page.getByRole('button', { name: 'Connect channel' }).click();
    await page.getByLabel('Name').fill('#chloe');
    const url = page.getByLabel('Webhook URL');
    await url.fill('https://hooks.acme.example/services/secret');
    await page.getByRole('button', { name: 'Connect channel' }).click();
    await page.locator('.notice', { hasText: 'Notifications cannot be sent to this address.' }).waitFor();
    await url.fill('https://hooks.slack.com/services/T0/B0/secret');
    await page.getByRole('button', { name: 'Connect channel' }).click();
    const row = page.locator('.row', { hasText: '#chloe' });
    await row.getByText(/Slack · connected/).waitFor();
    expect(await page.content()).not.toContain('T0/B0/secret');
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No channels connected').waitFor();
    expect((await devices.list({})).items).toEqual([]);
  });

  journey('connects a Slack account by the link from Slack, and removes it', async () => {
    const { devices } = house.client(people.chloe.me.token);
    const [row] = await house.world.rows<{ key: Buffer }>(
      'select cursor_key as key from streams where org_id = $1',
      people.orgId,
    );
    /** Signs the token of a link like an installation without SECRETS_KEY. */
    const tokenOf = (expiresAt: number): string => {
      const key = hkdfSync('sha256', '', row?.key ?? '', 'muster links of Slack accounts', 32);
      const content = Buffer.from(
        JSON.stringify({ teamId: 'T0', userId: 'U0', userName: 'chloé', expiresAt }),
      ).toString('base64url');
      const digest = createHmac('sha256', Buffer.from(key)).update(content).digest().subarray(0, 16);
      return `${content}.${digest.toString('base64url')}`;
    };
    const late = await open(people.chloe.me.token, `/settings/notifications#slack=${tokenOf(1)}`);
    await late.getByRole('button', { name: 'Connect account' }).click();
    await late.locator('.notice', { hasText: 'This has expired.' }).waitFor();
    await late.getByRole('button', { name: 'Cancel' }).click();
    const page = await open(
      people.chloe.me.token,
      `/settings/notifications#slack=${tokenOf(Date.now() + 60_000)}`,
    );
    await page.getByRole('heading', { name: 'Connect the Slack account chloé?' }).waitFor();
    await page.getByRole('button', { name: 'Connect account' }).click();
    const shown = page.locator('.row', { hasText: 'chloé' });
    await shown.getByText(/Slack account that answers as you · connected/).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await shown.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No channels connected').waitFor();
    expect((await devices.list({})).items).toEqual([]);
  });

  journey('sends what needs an answer from a project to Teams, and shows the host alone', async () => {
    const page = await open(people.ana.me.token, '/p/WEB/settings/webhooks');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByLabel('Send to').selectOption('teams');
    const needs = page.getByRole('checkbox', { name: /^Action needed/ });
    expect(await needs.isChecked()).toBe(true);
    expect(await page.getByRole('checkbox', { name: 'Stories and epics' }).isChecked()).toBe(false);
    await page.getByLabel('URL').fill('https://prod-1.westus.logic.azure.com/workflows/secret');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    const row = page.locator('.row', { hasText: 'https://prod-1.westus.logic.azure.com/…' });
    await row.getByText(/Microsoft Teams · comment.created/).waitFor();
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Send test' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Rotate secret' }).count()).toBe(0);
    const { items } = await house.client(people.ana.me.token).webhooks.list({ projectId: 'WEB' });
    expect(items).toMatchObject([{ format: 'teams', state: 'active' }]);
    expect(items[0]?.kinds).toContain('budget.warned');
  });

  journey('chooses by which ways one is told, and says where that could not be saved', async () => {
    const { notifications } = house.client(people.chloe.me.token);
    const of = async (kind: string) =>
      (await notifications.listPreferences({})).items.find((one) => one.kind === kind)?.channels;
    const page = await open(people.chloe.me.token, '/inbox');
    await page.getByRole('link', { name: 'Notification settings' }).click();
    const replies = page.getByRole('row', { name: /someone replies to you/ });
    const box = (channel: string) => replies.getByRole('checkbox', { name: channel });
    expect(await box('E-mail').isChecked()).toBe(false);
    await box('E-mail').check();
    await replies.getByText('Saved').waitFor();
    expect(await of('comment_reply')).toEqual({ inbox: true, email: true, push: false, digest: false });
    // If a box is clicked several times in a row, the last choice is the one that is stored.
    let saves = 0;
    page.on('response', (answer) => {
      if (answer.ok() && answer.url().endsWith('/api/notifications/setPreference')) saves += 1;
    });
    for (const channel of ['E-mail', 'Inbox', 'Inbox', 'Inbox']) await box(channel).click();
    await waitUntil(() => saves === 4);
    await replies.getByText('Saved').waitFor();
    expect(await of('comment_reply')).toEqual({ inbox: false, email: false, push: false, digest: false });
    await page
      .getByRole('row', { name: /someone mentions you/ })
      .getByRole('checkbox', { name: 'Push' })
      .press(' ');
    await replies.getByText('off', { exact: true }).waitFor();
    // If the API refuses a choice, the checkbox shows the previous state again.
    await intercept(page, '**/api/notifications/setPreference', (route) =>
      route.fulfill(refusal(403, 'forbidden')),
    );
    await box('Push').click();
    await replies.getByText('This could not be saved. Not now.').waitFor();
    expect(await box('Push').isChecked()).toBe(false);
  });

  journey('keeps a saved way to be told when an older answer of the list arrives late', async () => {
    const page = await open(people.chloe.me.token, '/settings/notifications');
    const box = page
      .getByRole('row', { name: /someone replies to you/ })
      .getByRole('checkbox', { name: 'Push' });
    await box.waitFor();
    const held = Promise.withResolvers<undefined>();
    let lists = 0;
    await intercept(page, '**/api/notifications/listPreferences', async (route) => {
      const answer = await route.fetch();
      lists += 1;
      await held.promise;
      await route.fulfill({ response: answer }).catch(() => undefined);
    });
    await house.client(people.ana.me.token).teams.create({ name: 'Docs' });
    await waitUntil(() => lists > 0);
    await box.check();
    await page.locator('main').getByText('Saved').waitFor();
    const ended = Promise.race([page.waitForEvent('requestfinished'), page.waitForEvent('requestfailed')]);
    held.resolve(undefined);
    await ended;
    await page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))');
    expect(await box.isChecked()).toBe(true);
  });

  journey('changes no way to be told by a token that may read alone', async () => {
    const { secret } = await house
      .client(people.ana.me.token)
      .tokens.create({ name: 'Look', scopes: ['read'] });
    const page = await open(secret, '/settings/notifications');
    await page.getByText('This token is read-only').waitFor();
    expect(await page.getByRole('checkbox', { disabled: false }).count()).toBe(0);
  });

  journey('changes the columns of a board, which an open board shows', async () => {
    const [settings, board] = [
      await open(people.ana.me.token, '/p/WEB/settings/columns'),
      await open(people.ben.me.token, '/p/WEB'),
    ];
    await settings.getByRole('textbox', { name: 'Name: Ready' }).fill('Up next');
    await settings.getByRole('spinbutton', { name: 'Story limit: Ready' }).fill('3');
    await settings.getByRole('button', { name: 'Save Ready' }).click();
    await board.getByRole('region', { name: 'Up next', exact: true }).getByText('0 of 3').waitFor();
    await settings.getByRole('button', { name: 'Move Up next right' }).click();
    const order = ['Backlog', 'In progress', 'Up next', 'In review', 'Done'];
    await waitUntil(async () => {
      const names = await board.locator('.column h2').allTextContents();
      return order.every((name, at) => names[at]?.startsWith(name) === true);
    });
  });

  const tableOf = (rows: readonly string[]): { name: string; mimeType: string; buffer: Buffer } => ({
    ...{ name: 'table.csv', mimeType: 'text/csv' },
    buffer: Buffer.from(`Id,Title,Status\n${rows.join('\n')}\n`),
  });

  journey('brings in a file of another tracker, which an open board shows, and takes it back', async () => {
    const [settings, board] = [
      await open(people.ana.me.token, '/p/WEB/settings/import'),
      await open(people.ben.me.token, '/p/WEB'),
    ];
    await settings.getByLabel('Source').selectOption('csv');
    await settings
      .getByLabel('File')
      .setInputFiles(tableOf(['ENG-1,First import,Todo', 'ENG-2,Second import,Paired']));
    await settings.getByText('Choose a column for 1 more status.').waitFor();
    expect(await settings.getByRole('button', { name: /^Import/ }).isDisabled()).toBe(true);
    await settings.getByLabel('Column for Paired').selectOption('In progress');
    await settings.getByRole('button', { name: 'Import 2 stories' }).click();
    await settings.getByRole('heading', { name: 'table.csv was imported' }).waitFor();
    await board.getByRole('region', { name: 'Ready', exact: true }).getByText('First import').waitFor();
    await board
      .getByRole('region', { name: 'In progress', exact: true })
      .getByText('Second import')
      .waitFor();
    await settings.getByRole('button', { name: 'Undo csv: table.csv' }).click();
    await settings.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await settings.locator('.notice', { hasText: '2 stories were deleted' }).waitFor();
    await board.getByText('First import').waitFor({ state: 'detached' });
    const { items } = await house.client(people.ana.me.token).imports.list({ projectId: 'WEB' });
    expect(items.map(({ state, counts }) => [state, counts.created])).toEqual([['reverted', 2]]);
  });

  journey('goes on with a file whose import was stopped, and doubles nothing', async () => {
    const page = await open(people.ana.me.token, '/p/WEB/settings/import');
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await intercept(page, '**/api/imports/put', async (route) => {
      await held;
      await route.continue();
    });
    const rows = Array.from({ length: 250 }, (_, at) => `ENG-${at},Story ${at},Todo`);
    await page.getByLabel('Source').selectOption('csv');
    await page.getByLabel('File').setInputFiles(tableOf(rows));
    const asked = page.waitForRequest('**/api/imports/put');
    await page.getByRole('button', { name: 'Import 250 stories' }).click();
    await asked;
    await page.getByRole('button', { name: 'Stop' }).click();
    letGo();
    await page.getByText('Stopped. Stories imported so far are kept.').waitFor();
    await page.getByText('not finished').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('An unfinished import was resumed.').waitFor();
    await page.getByText('50 created · 200 unchanged', { exact: true }).waitFor();
    const { items } = await house.client(people.ana.me.token).imports.list({ projectId: 'WEB' });
    expect(items.map(({ state, counts }) => [state, counts.created])).toEqual([['finished', 250]]);
  });

  journey(
    'knows members by their names in a file, asks for the others, and begins what is another import',
    async () => {
      const ana = house.client(people.ana.me.token);
      await ana.imports.begin({ projectId: 'WEB', provider: 'other', name: 'csv: other.csv' });
      const page = await open(people.ana.me.token, '/p/WEB/settings/import');
      await page.getByText('csv: other.csv').waitFor();
      await page.getByLabel('Source').selectOption('csv');
      const buffer = Buffer.from('Id,Title,Assignee\n1,By Ben,BEN\n2,By C. D.,C. D.\n3,By X,X\n');
      await page.getByLabel('File').setInputFiles({ name: 'table.csv', mimeType: 'text/csv', buffer });
      const of = (name: string) => page.getByLabel(`Member for ${name}`);
      await of('C. D.').selectOption({ label: 'Chloé, chloe@example.com' });
      expect(await of('BEN').inputValue()).toBe('ben@example.com');
      expect(await of('X').inputValue()).toBe('');
      await page.getByRole('button', { name: 'Import 3 stories' }).click();
      await page.getByRole('heading', { name: 'table.csv was imported' }).waitFor();
      expect(await page.getByText('An unfinished import was resumed').count()).toBe(0);
      const cards = await ana.stories.list({ projectId: 'WEB', view: 'card', limit: 100 });
      const whose = cards.items.map(({ title, assignees }) => [title, assignees.member?.name]);
      expect(whose).toEqual(
        expect.arrayContaining([
          ['By Ben', 'Ben'],
          ['By C. D.', 'Chloé'],
          ['By X', undefined],
        ]),
      );
      const { items } = await ana.imports.list({ projectId: 'WEB' });
      expect(items.map(({ name, state }) => [name, state])).toEqual([
        ['csv: table.csv', 'finished'],
        ['csv: other.csv', 'open'],
      ]);
    },
  );

  journey('recognizes a board file of Muster, and brings it into the project', async () => {
    const page = await open(people.ana.me.token, '/p/WEB/settings/import');
    const board = {
      epics: [{ localId: 'sync', title: 'Offline first' }],
      stories: [
        { localId: 'a', title: 'Keep a queue', status: 'ready', epicLocalId: 'sync', labels: ['mobile'] },
        { localId: 'b', title: 'Settle edits', status: 'in_progress', spec: '# Merge' },
      ],
    };
    const buffer = Buffer.from(JSON.stringify(board));
    await page.getByLabel('File').setInputFiles({ name: 'board.json', mimeType: 'application/json', buffer });
    await page.getByRole('button', { name: 'Import 2 stories' }).click();
    await page.getByRole('heading', { name: 'board.json was imported' }).waitFor();
    const ana = house.client(people.ana.me.token);
    const { items } = await ana.stories.list({ projectId: 'WEB', status: ['ready', 'in_progress'] });
    expect(items.map(({ title, status, labels }) => [title, status, labels])).toEqual(
      expect.arrayContaining([
        ['Keep a queue', 'ready', ['mobile']],
        ['Settle edits', 'in_progress', []],
      ]),
    );
  });

  journey('asks which column is the title, and which comes first in a date', async () => {
    const page = await open(people.ana.me.token, '/p/WEB/settings/import');
    await page.getByLabel('Source').selectOption('csv');
    const buffer = Buffer.from('What;Created\nFrom a table;03/04/2024\n');
    await page.getByLabel('File').setInputFiles({ name: 'table.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('alert').getByText('no column contains the story titles').waitFor();
    await page.getByLabel('Title').selectOption('What');
    await page.getByLabel('Date order (01/02/2024)').selectOption('dmy');
    await page.getByRole('button', { name: 'Import 1 story' }).click();
    await page.getByRole('heading', { name: 'table.csv was imported' }).waitFor();
    const ana = house.client(people.ana.me.token);
    const { items } = await ana.stories.list({ projectId: 'WEB', status: ['backlog'] });
    expect(items.find(({ title }) => title === 'From a table')?.createdAt).toBe('2024-04-03T00:00:00.000Z');
  });

  journey('lists the programs that were let in, with whose they are, and lets one in no more', async () => {
    const [id, agentId] = [randomUUID(), randomUUID()];
    await house.world.rows(
      `insert into agents (org_id, id, member_id, name) values ($1, $2, $3, 'Desk')`,
      ...[people.orgId, agentId, people.chloe.me.memberId],
    );
    await house.world.rows(
      `insert into connections
         (org_id, id, member_id, agent_id, client_id, client_name, client_host, resource, scopes, expires_at)
       values ($1, $2, $3, $4, 'https://a.example/c.json', 'Editor', 'a.example', 'https://m.example', '{write}',
         now() + interval '30 days')`,
      ...[people.orgId, id, people.chloe.me.memberId, agentId],
    );
    const page = await open(people.ana.me.token, '/settings/connections');
    await page.getByText('Desk, agent of Chloé').waitFor();
    await page.getByText('a.example').waitFor();
    await page.getByRole('button', { name: 'Disconnect Editor' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('heading', { name: 'No connected programs' }).waitFor();
    const { items } = await house.client(people.ana.me.token).connections.list({ includeEnded: true });
    expect(items.map((one) => [one.client.name, one.revokedAt !== null])).toEqual([['Editor', true]]);
  });

  journey('says of each token whose it is', async () => {
    await house.client(people.ben.me.token).tokens.create({ name: 'Laptop', scopes: ['write'] });
    const page = await open(people.ana.me.token, '/settings/tokens');
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Laptop' })
      .getByText(/^Ben · /)
      .waitFor();
    await page.getByText('Robo, agent of Chloé').waitFor();
    await page.getByText('yours').waitFor();
    await house.go(page, '/settings/teams');
    const theirs = await open(people.ben.me.token, '/settings/tokens');
    await theirs.getByRole('listitem').filter({ hasText: 'Laptop' }).getByText('yours').waitFor();
  });

  journey('adds an identity provider, with the record that proves its domain, and changes it', async () => {
    const page = await open(people.ana.me.token, '/settings/providers');
    await page.getByRole('heading', { name: 'No identity providers yet' }).waitFor();
    await page.getByRole('button', { name: 'Add identity provider' }).click();
    // The first field gets the focus; a closed form returns it to the button that opened it.
    await page.locator(':focus').and(page.getByLabel('Issuer')).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).press('Enter');
    await page
      .locator(':focus')
      .and(page.getByRole('button', { name: 'Add identity provider' }))
      .waitFor();
    await page.keyboard.press('Enter');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the redirect URI' }).click();
    await page.getByRole('button', { name: 'Copied the redirect URI' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`${house.url()}/auth/issuer/`);
    await page.getByLabel('Issuer').fill('https://login.acme.example');
    await page.getByLabel('Client ID').fill('muster');
    await page.getByLabel('E-mail domains').fill('acme.example');
    await page.getByRole('button', { name: 'Add identity provider' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'https://login.acme.example' });
    await row.getByText('not verified').waitFor();
    await row.getByText('Add this TXT record').waitFor();
    await row.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('Acme');
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .locator(':focus')
      .and(page.getByRole('button', { name: 'Add identity provider' }))
      .waitFor();
    await page.getByRole('button', { name: 'Edit Acme' }).waitFor();
    await house.go(page, '/settings/policy');
    await page.getByRole('checkbox', { name: 'Acme' }).waitFor();
  });

  journey('creates a token for an identity provider, which the API accepts for SCIM', async () => {
    const page = await open(people.ana.me.token, '/settings/provisioning');
    await page.getByRole('heading', { name: 'Not set up yet' }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy Base URL' }).click();
    const address = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(address).toBe(`${house.url()}/scim/v2`);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.locator(':focus').and(page.getByLabel('Name')).fill('Okta');
    await page.keyboard.press('Enter');
    const secret = await page.locator('.once code').innerText();
    const answer = await fetch(`${address}/Users`, { headers: { authorization: `Bearer ${secret}` } });
    expect(await answer.json()).toMatchObject({ totalResults: 4 });
    const row = page.getByRole('listitem').filter({ hasText: 'Okta' });
    await row.getByText('Provisioning (SCIM)').waitFor();
    await row.getByRole('button', { name: 'Revoke Okta' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('heading', { name: 'Not set up yet' }).waitFor();
  });

  journey('renames the organization on every page, and leaves what another changed', async () => {
    const [mine, theirs] = [
      await open(people.ana.me.token, '/settings/general'),
      await open(people.ben.me.token, '/settings/general'),
    ];
    await mine.getByLabel('Name', { exact: true }).fill('Acme Works');
    await mine.getByRole('button', { name: 'Save' }).click();
    for (const page of [mine, theirs]) {
      await page.getByRole('navigation', { name: 'Main' }).getByText('Acme Works').first().waitFor();
      await waitUntil(
        async () => (await page.getByLabel('Name', { exact: true }).inputValue()) === 'Acme Works',
      );
    }
    await theirs.getByLabel('Description').fill('Makers of everything');
    await theirs.getByRole('button', { name: 'Save' }).click();
    await theirs.locator('.notice', { hasText: 'Saved' }).waitFor();
    const orgNow = async () => (await house.client(people.ana.me.token).session.identity()).org;
    expect(await orgNow()).toMatchObject({
      ...{ name: 'Acme Works', slug: people.slug, description: 'Makers of everything' },
    });
    await house.go(mine, '/settings/teams');
    await mine.getByRole('button', { name: 'Create team' }).waitFor();
    await house.go(mine, '/settings/general');
    expect(await mine.getByLabel('Name', { exact: true }).inputValue()).toBe('Acme Works');
    // An outdated page never overwrites values that it does not show.
    await intercept(mine, '**/api/session/identity', (route) => route.abort());
    await house.client(people.ben.me.token).orgs.update({ name: 'Acme and Sons' });
    await mine.getByLabel('Name', { exact: true }).fill('Acme Ltd');
    await mine.getByRole('button', { name: 'Save' }).click();
    await mine.locator('.notice', { hasText: 'changed' }).waitFor();
    expect((await orgNow()).name).toBe('Acme and Sons');
  });

  journey('marks what it cannot copy, for a reader who copies it by hand', async () => {
    const page = await open(people.ana.me.token, '/settings/providers');
    await page.getByRole('button', { name: 'Add identity provider' }).click();
    const selected = () => page.evaluate('getSelection().toString()');
    // Simulates a page over plain HTTP, which has no clipboard, and a browser that refuses access to the
    // clipboard.
    for (const clipboard of ['undefined', '{ writeText: () => Promise.reject(new Error()) }']) {
      await page.evaluate(
        `getSelection().empty(); Object.defineProperty(navigator, 'clipboard', { value: ${clipboard}, configurable: true })`,
      );
      await page.getByRole('button', { name: 'Copy the redirect URI' }).click();
      await waitUntil(async () => String(await selected()).includes('/auth/issuer/'));
    }
    await page.locator('.notice', { hasText: 'This could not be copied' }).first().waitFor();
  });
}
