/** Tests the pages for pending work, notifications and active agents, and the shortcuts to them. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { journey, pressBoth } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function pagesJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha'], ready: ['Delta'], in_progress: [] });
  });

  journey('begins with what waits for one, as it comes and goes', async () => {
    const ben = house.client(people.ben.me.token);
    const page = await open(people.ana.me.token, '/');
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor();
    await ben.comments.create({ storyId: 'WEB-2', body: `@${people.ana.me.handle} which one?` });
    const told = page.getByRole('region', { name: 'Waiting for you' });
    await told.getByText('WEB-2', { exact: true }).first().waitFor();
    const { notifications } = house.client(people.ana.me.token);
    await notifications.markRead({
      notificationIds: (await notifications.list({})).items.map(({ id }) => id),
    });
    await told.waitFor({ state: 'detached' });
    await ben.reviewers.add({ storyId: 'WEB-1', memberId: people.ana.me.memberId });
    await page.getByRole('region', { name: 'Waiting for you' }).getByText('Alpha').waitFor();
    await page.getByRole('link', { name: 'Review WEB-1' }).click();
    await page.getByRole('heading', { name: 'Alpha' }).waitFor();
    await house.client(people.ana.me.token).reviewers.setVerdict({ storyId: 'WEB-1', verdict: 'approved' });
    await page.getByRole('link', { name: 'My work', exact: true }).click();
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor();
  });

  journey('shows who is at work, how far, and passes a stop on to them', async () => {
    const robo = house.client(people.robo.me.token);
    const page = await open(people.ana.me.token, '/agents');
    await page.getByRole('heading', { name: 'No work in progress' }).waitFor();
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-2', runId: 'run-1' },
    });
    const held = { executionId: execution.id, leaseToken };
    await robo.deliveryExecutions.update({ ...held, phase: 'testing', progress: 40 });
    await robo.deliveryExecutions.checkpoint({ ...held, summary: 'Two tests are red' });
    await page.getByText('Two tests are red').waitFor();
    await page.getByText(/Robo · testing · 40% done · /).waitFor();
    await page.getByRole('button', { name: 'Ask to stop WEB-2' }).click();
    await page.getByText(/Ana asked to stop/).waitFor();
    await page.locator('.state', { hasText: 'stopping' }).waitFor();
    expect(await page.getByRole('button', { name: 'Ask to stop WEB-2' }).count()).toBe(0);
    await waitUntil(async () =>
      (await robo.deliveryExecutions.renew(held)).signals.some(({ kind }) => kind === 'stop_requested'),
    );
    await robo.deliveryExecutions.release(held);
    await page.getByRole('heading', { name: 'No work in progress' }).waitFor();
    // The member who requested the stop is notified, and everyone sees the stopped work until someone takes
    // it.
    await page
      .locator('.notice', { hasText: 'WEB-2 has stopped' })
      .getByText(/^Robo released it/)
      .waitFor();
    expect(await page.locator('.notice', { hasText: 'Stop requested for' }).count()).toBe(0);
    const stopped = page.getByRole('region', { name: 'Stopped' });
    await stopped.getByText('Two tests are red').waitFor();
    await house.client(people.ben.me.token).deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-2', runId: 'run-2' },
    });
    await stopped.waitFor({ state: 'detached' });
  });

  journey('asks no one to stop where no one would hear it', async () => {
    const { execution } = await house.client(people.robo.me.token).deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-2', runId: 'run-1' },
    });
    await house.world.rows(
      `update leases set expires_at = now() - interval '1 minute' where unit_id = $1`,
      execution.targetId,
    );
    const page = await open(people.ana.me.token, '/agents');
    await page.locator('.state', { hasText: 'stalled' }).waitFor();
    await page.getByRole('button', { name: 'Take over WEB-2' }).waitFor();
    expect(await page.getByRole('button', { name: 'Ask to stop WEB-2' }).count()).toBe(0);
  });

  journey('shows what is locked as a tree, who is at the same files, and by which path', async () => {
    const [robo, ben] = [house.client(people.robo.me.token), house.client(people.ben.me.token)];
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-2', runId: 'run-1' },
    });
    const executionId = execution.id;
    await robo.locks.acquire({
      projectId: 'WEB',
      resources: ['src/auth/**/*.ts', 'name:ports'],
      executionId,
    });
    await robo.deliveryExecutions.checkpoint({
      ...{ executionId, leaseToken, summary: 'One file moved', filesTouched: ['docs/guide.md'] },
    });
    await ben.locks.acquire({ projectId: 'WEB', resources: ['docs/**'], reason: 'Renaming' });
    const page = await open(people.ana.me.token, '/agents');
    await page.getByText('docs/guide.md').waitFor();
    await page.getByText('Ben has it locked').waitFor();
    await house.go(page, '/p/WEB');
    await page.getByRole('button', { name: 'Project menu' }).click();
    await page.getByRole('menuitem', { name: 'Locks' }).click();
    const locks = page.locator('main');
    await locks.getByText('src/auth/**/*.ts', { exact: true }).waitFor();
    await locks.getByLabel('Path, glob or name').fill('src/**/token.*');
    await locks.getByRole('button', { name: 'Check lock' }).click();
    await locks.getByText('src/**/token.* is locked').waitFor();
    await locks
      .getByRole('listitem')
      .filter({ hasText: /Robo has locked src\/auth\/token\.\S* with src/ })
      .waitFor();
    await locks.getByRole('button', { name: 'Release docs/**' }).click();
    await locks.getByText('Renaming').waitFor({ state: 'detached' });
    expect((await ben.locks.list({ projectId: 'WEB', mine: true })).items).toEqual([]);
  });

  journey('puts what needs one before what is good to know, and is done by a key', async () => {
    const ben = house.client(people.ben.me.token);
    const page = await open(people.ana.me.token, '/inbox');
    await page.getByRole('heading', { name: 'Your inbox is empty' }).waitFor();
    await ben.assignments.set({ targetType: 'story', targetId: 'WEB-1', memberId: people.ana.me.memberId });
    await ben.comments.create({ storyId: 'WEB-2', body: `@${people.ana.me.handle} which one?` });
    const needs = page.getByRole('region', { name: 'Action needed' });
    await needs.getByText('Delta').waitFor();
    await page.getByRole('region', { name: 'For your information' }).getByText('Alpha').waitFor();
    await page
      .getByRole('link', { name: 'Inbox 2 2 unread' })
      .or(page.getByText('2 unread'))
      .first()
      .waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await needs.waitFor({ state: 'detached' });
    await waitUntil(
      async () => (await house.client(people.ana.me.token).notifications.unreadCount()).unread === 1,
    );
    await page.getByRole('button', { name: 'Mark all as done' }).click();
    await page.getByRole('region', { name: 'For your information' }).waitFor({ state: 'detached' });
  });

  journey('shows and marks unread notifications beyond the first page and behind read ones', async () => {
    const ana = house.client(people.ana.me.token);
    const insertNotifications = (count: number, title: string, hoursAgo: number, isRead: boolean) =>
      house.world.rows(
        `insert into notifications (org_id, id, member_id, kind, title, actor, created_at, read_at)
         select $1, app.new_id(at), $2, 'assigned', $4 || n, $7, at, case when $6 then now() end
         from generate_series(1, $3::int) n,
           lateral (select now() - make_interval(hours => $5::int, secs => $3::int - n)) as made(at)`,
        ...[people.orgId, people.ana.me.memberId, count, title, hoursAgo, isRead],
        { kind: 'member', memberId: people.ben.me.memberId, agentId: null, name: 'Ben' },
      );
    await insertNotifications(201, 'Unread ', 2, false);
    await insertNotifications(100, 'Read ', 1, true);
    const page = await open(people.ana.me.token, '/inbox');
    const unread = page.getByRole('region', { name: 'For your information' });
    await unread.getByText('Unread 102', { exact: true }).first().waitFor();
    expect(await unread.getByText('Unread 101', { exact: true }).count()).toBe(0);
    await page.getByRole('region', { name: 'Done' }).getByText('Read 1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show older unread' }).click();
    await unread.getByText('Unread 2', { exact: true }).first().waitFor();
    expect(await unread.getByText('Unread 1', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Mark all as done' }).click();
    await unread.waitFor({ state: 'detached' });
    await waitUntil(async () => (await ana.notifications.unreadCount()).unread === 0);
    expect((await ana.notifications.list({ unreadOnly: true })).items).toEqual([]);
  });

  journey('marks as read what a story was opened for, and a request once it is decided', async () => {
    const ben = house.client(people.ben.me.token);
    const { memberId, handle } = people.ana.me;
    await ben.comments.create({ storyId: 'WEB-2', body: `@${handle} which one?` });
    await ben.reviewers.add({ storyId: 'WEB-2', memberId });
    const page = await open(people.ana.me.token, '/');
    await page.getByText('2 unread').waitFor();
    await page.getByRole('link', { name: 'Review WEB-2' }).click();
    await page.getByText('1 unread').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('1 unread').waitFor({ state: 'detached' });
    expect((await house.client(people.ana.me.token).notifications.unreadCount()).unread).toBe(0);
    await page.getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('region', { name: 'Done' }).waitFor();
    // The title of a notification names the actor, so the line below the title does not repeat the name.
    expect(await page.locator('.row-fact', { hasText: 'Ben' }).count()).toBe(0);
  });

  journey('leads anywhere by keys, which can be switched off', async () => {
    const page = await open(people.ana.me.token, '/');
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('delt');
    await page.getByRole('option', { name: /Delta/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Delta' }).waitFor();
    await house.go(page, '/nowhere');
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor();
    await pressBoth(page, 'g', 'a');
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    await page.locator('main').getByText('created').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await pressBoth(page, 'g', 'w');
    await page.keyboard.press('?');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Activity', level: 1 }).count()).toBe(1);
  });

  journey('hears a key that comes before a closed dialog has told that it is', async () => {
    const page = await open(people.ana.me.token, '/');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await page.getByRole('dialog').waitFor();
    await page.evaluate(`{
    document.querySelector('dialog').close();
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
  }`);
    await page.getByRole('combobox', { name: 'Go to' }).waitFor();
  });

  journey('adds epics up, and shows the stories of one', async () => {
    const page = await open(people.ana.me.token, '/p/WEB');
    await page.getByRole('button', { name: 'Project menu' }).click();
    await page.getByRole('menuitem', { name: 'Epics and groups' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Sign up');
    await page.getByRole('button', { name: 'Create epic' }).click();
    const ana = house.client(people.ana.me.token);
    await page.getByRole('link', { name: 'Sign up' }).waitFor();
    const { items } = await ana.epics.list({ projectId: 'WEB' });
    await ana.stories.update({ storyId: 'WEB-2', epicId: items[0]?.id ?? '' });
    await ana.stories.updateStatus({ storyId: 'WEB-2', status: 'done' });
    await page.getByText('1 of 1 story done').first().waitFor();
    await page.getByRole('link', { name: 'Sign up' }).click();
    await page.getByRole('link', { name: 'Delta' }).waitFor();
    expect(await page.getByRole('link', { name: 'Alpha' }).count()).toBe(0);
  });

  journey('measures the work of a project, and shows admins what was refused', async () => {
    const chloe = house.client(people.chloe.me.token);
    await expect(chloe.members.invite({ email: 'noor@example.com' })).rejects.toThrow('forbidden');
    for (const storyId of ['WEB-1', 'WEB-2'])
      for (const status of ['in_progress', 'done'] as const)
        await chloe.stories.updateStatus({ storyId, status });
    // A chart needs data from at least two weeks, so this moves one story's events to the previous week.
    const { story } = await chloe.stories.get({ storyId: 'WEB-1' });
    await house.world.rows(`update activity set at = at - interval '8 days' where story_id = $1`, story.id);
    const page = await open(people.ana.me.token, '/p/WEB/health');
    const lead = page.getByRole('region', { name: 'Lead time' });
    await lead.first().locator('canvas').waitFor();
    await lead.getByRole('row', { name: /^Total 2 / }).waitFor();
    await house.go(page, '/activity');
    await page.getByRole('link', { name: 'Audit trail' }).click();
    await page.getByRole('row', { name: /Chloé members\.invite denied/ }).waitFor();
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page
      .getByRole('row', { name: /stories\.updateStatus .*allowed/ })
      .first()
      .waitFor();
    await page.getByRole('searchbox').fill('projects.create');
    await page.waitForURL(/operation=projects.create/);
    await page
      .getByRole('row', { name: /projects\.create/ })
      .getByText('Web shop')
      .waitFor();
  });

  journey('says in the audit trail whom a person let in, as what, where and until when', async () => {
    const { project } = await house.client(people.ana.me.token).projects.get({ projectId: 'WEB' });
    const letIn = async (host: string | null, projectIds: readonly string[] | null): Promise<unknown> => {
      const id = randomUUID();
      await house.world.rows(
        `insert into connections
           (org_id, id, member_id, agent_id, client_id, client_name, client_host, resource, scopes, project_ids, expires_at)
         values ($1, $2, $3, $4, 'editor', 'Editor', $5, 'https://muster.example/api/mcp', '{read,write}', $6, now() + interval '30 days')`,
        ...[people.orgId, id, people.chloe.me.memberId, people.robo.me.agentId, host, projectIds],
      );
      return house.world.rows('select app.note_connection($1, $2, $3)', id, randomUUID(), {
        ...{ ip: '192.0.2.7', userAgent: 'a browser', requestId: 'r' },
      });
    };
    await letIn('editor.example', [project.id, randomUUID()]);
    await letIn(null, null);
    const page = await open(people.ana.me.token, '/audit?operation=connections.consent');
    const says = (words: RegExp) =>
      page.getByRole('row', { name: /^Chloé connections\.consent/ }).filter({ hasText: words });
    const as = 'as agent Robo · read and write';
    const ends = String.raw`until \w{3} \d+, 20\d\d`;
    await says(
      new RegExp(`Editor, verified by editor\\.example · ${as} · Web shop, 1 other project · ${ends}`),
    ).waitFor();
    await says(new RegExp(`Editor, not verified · ${as} · all projects of the member · ${ends}`)).waitFor();
  });

  journey('leads from a lock to its story, which has its key in the address', async () => {
    const ben = house.client(people.ben.me.token);
    await ben.locks.acquire({ projectId: 'WEB', resources: ['docs/**'], storyId: 'WEB-2' });
    const page = await open(people.ana.me.token, '/p/WEB/locks');
    const locks = page.locator('code', { hasText: 'docs/**' });
    await page.getByRole('link', { name: 'Story' }).click();
    await page.getByRole('heading', { name: 'Delta' }).waitFor();
    await page.waitForURL(/\/s\/WEB-2$/);
    await page.getByRole('button', { name: 'Edit title' }).waitFor();
    // The address with the story's key has replaced the link's address in the history.
    await page.goBack();
    await locks.waitFor();
  });
}
