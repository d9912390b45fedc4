import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People } from '@muster/testing';
import { parse, stringify } from 'yaml';
import { comparePolicy } from '../src/policy/changes.ts';
import { applyChanges } from '../src/policy/command.ts';
import { parsePolicyFile } from '../src/policy/file.ts';
import { readLiveRules } from '../src/policy/live.ts';
import { useMuster } from './muster.ts';

const muster = useMuster();

let people: People;
let ana: Client;
beforeEach(async () => {
  people = await muster.world.org();
  ana = muster.apiClient(people.ana);
  await ana.projects.create({ key: 'WEB', name: 'Web' });
  await ana.stories.create({ projectId: 'WEB', title: 'First' });
  const { agent } = await ana.agents.create({ name: 'Robo Two', slug: 'robo-two' });
  const limit = { amountMicros: 5_000_000, action: 'stop' } as const;
  await ana.budgets.set({ scope: 'org', period: 'month', ...limit });
  await ana.budgets.set({ scope: 'project', targetId: 'WEB', period: 'month', ...limit });
  await ana.budgets.set({ scope: 'story', targetId: 'WEB-1', period: 'total', ...limit });
  await ana.budgets.set({ scope: 'agent', targetId: agent.id, period: 'day', ...limit });
  await ana.webhooks.create({ url: 'https://hooks.acme.example/a', kinds: ['story.*', 'audit.*'] });
  await ana.webhooks.create({ url: 'https://hooks.acme.example/b', kinds: ['story.*'], projectId: 'WEB' });
  await ana.prompts.org.upsert({ slug: 'review', title: 'Review', body: 'Read it.\nThen decide.\n' });
  await ana.prompts.project.upsert({
    projectId: 'WEB',
    slug: 'start',
    title: 'Start',
    body: 'x'.repeat(9_000),
  });
});

const fileAt = (name: string) => path.join(muster.home(), name);
const policy = (...args: string[]) => muster.runAs(people.ana, 'policy', ...args);
interface Document {
  policy: Record<string, unknown>;
  budgets: { scope: string; targetId?: string; amountMicros: number }[];
  prompts: { slug: string; title: string; body: string }[];
  webhooks: { url: string; kinds: string[] }[];
  projects: { WEB: { columns: { name: string; status: string; wipLimit?: number | null }[] } };
}

/** Pulls the rules, lets `change` edit them, and returns the file with the result. */
async function pullPolicyFile(change: (file: Document) => void = () => undefined): Promise<string> {
  const file = fileAt('policy.yaml');
  expect(await policy('pull', '--project', 'web', '-o', file)).toMatchObject({ code: 0, out: '', err: '' });
  const document = parse(await readFile(file, 'utf8')) as Document;
  change(document);
  await writeFile(file, stringify(document));
  return file;
}

describe('muster policy', () => {
  it('pulls a file that changes nothing, with readable references and without secrets', async () => {
    const file = await pullPolicyFile();
    const text = await readFile(file, 'utf8');
    expect(parse(text)).toMatchObject({
      policy: { requiredApprovals: 0 },
      budgets: expect.arrayContaining([
        expect.objectContaining({ scope: 'agent', targetId: 'robo-two', period: 'day' }),
        expect.objectContaining({ scope: 'story', targetId: 'WEB-1' }),
        expect.objectContaining({ scope: 'project', targetId: 'WEB' }),
      ]),
      webhooks: [{ url: 'https://hooks.acme.example/a', kinds: ['story.*', 'audit.*'] }],
      projects: { WEB: { prompts: [{ slug: 'start', body: 'x'.repeat(9_000) }] } },
    });
    expect(text).not.toContain('whsec');
    expect(await policy('plan', file, '--prune')).toMatchObject({ code: 0, out: 'Nothing to change.\n' });
  });

  it('finds a budget by the id of its target, also if agents share a slug or the project is archived', async () => {
    const ben = muster.apiClient(people.ben);
    const limit = { amountMicros: 1_000_000, action: 'stop', period: 'total' } as const;
    const twins = await Promise.all(
      [ana, ben].map((client) => client.agents.create({ name: 'Twin', slug: 'twin' })),
    );
    // Concurrent calls can give two members agents with the same slug.
    await muster.world.rows(
      `update agents set slug = 'twin' where org_id = $1 and name = 'Twin'`,
      people.orgId,
    );
    for (const { agent } of twins)
      await ana.budgets.set({ scope: 'agent', targetId: agent.id, ...limit, period: 'day' });
    await ana.projects.create({ key: 'OLD', name: 'Old' });
    await ana.budgets.set({ scope: 'project', targetId: 'OLD', ...limit });
    await ana.projects.update({ projectId: 'OLD', archived: true });
    const file = await pullPolicyFile();
    expect((parse(await readFile(file, 'utf8')) as Document).budgets.map(({ targetId }) => targetId)).toEqual(
      expect.arrayContaining(['OLD', ...twins.map(({ agent }) => agent.id)]),
    );
    expect(await policy('plan', file, '--prune')).toMatchObject({ code: 0, out: 'Nothing to change.\n' });

    const { items } = await ana.budgets.list({});
    const byId = await pullPolicyFile((rules) => {
      rules.budgets = items.map(({ scope, target, amountMicros, currency, period, action }) => ({
        ...{ scope, amountMicros, currency, period, action },
        ...(target !== null && { targetId: target.id }),
      }));
    });
    expect(await policy('plan', byId, '--prune')).toMatchObject({ code: 0, out: 'Nothing to change.\n' });

    const twice = await pullPolicyFile((rules) =>
      rules.budgets.push({ scope: 'agent', targetId: 'twin', ...limit }),
    );
    expect(await policy('plan', twice)).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('twin is the slug of several agents') },
    });
  });

  it('does not show the URLs of webhooks, which may contain secrets', async () => {
    const file = await pullPolicyFile(({ webhooks }) => {
      webhooks.pop();
      webhooks.push({ url: 'https://chat.acme.example/services/T0K3N', kinds: ['audit.*'] });
    });
    const saved = fileAt('plan.json');
    const { out } = await policy('plan', file, '--out', saved);
    const json = await policy('plan', file, '--json');
    for (const text of [out, json.out, await readFile(saved, 'utf8')]) {
      expect(text).toMatch(/webhook chat\.acme\.example \([0-9a-f]{8}\)/);
      expect(text).not.toMatch(/T0K3N|acme\.example\/a/);
    }
    expect(out).toMatch(/^! webhook hooks\.acme\.example \([0-9a-f]{8}\) is not in the file/m);
  });

  it('plans, applies, and then has nothing to change; what the file leaves out stays without --prune', async () => {
    const file = await pullPolicyFile((rules) => {
      Object.assign(rules.policy, { requiredApprovals: 2, requireEvidence: ['test_report'] });
      rules.budgets = rules.budgets.filter(({ scope }) => scope !== 'org');
      for (const budget of rules.budgets) budget.amountMicros = 7_000_000;
      rules.prompts = [{ slug: 'plan', title: 'Plan', body: 'Plan it.' }];
      rules.webhooks = [
        { url: 'https://hooks.acme.example/a', kinds: ['audit.*'] },
        { url: 'https://hooks.acme.example/c', kinds: ['comment.*'] },
      ];
      const { columns } = rules.projects.WEB;
      columns.splice(1, 0, { name: 'Design', status: 'ready', wipLimit: 2 });
      columns.reverse();
    });
    const planned = await policy('plan', file);
    expect(planned).toMatchObject({ code: 2, err: '' });
    expect(planned.out).toContain('~ policy\n    requiredApprovals: 0 → 2\n');
    expect(planned.out).toMatch(/^\+ webhook hooks\.acme\.example \([0-9a-f]{8}\)$/m);
    expect(planned.out).toContain('! prompt review is not in the file and stays');
    expect(planned.out).toMatch(/^~ columns of WEB\n {4}order: /m);
    expect(planned.out).toContain('Nothing was changed.');
    expect((await ana.policy.get({})).policy.requiredApprovals).toBe(0);

    const secrets = fileAt('secrets.ndjson');
    expect(await policy('apply', file, '--secrets', secrets)).toMatchObject({ code: 0, err: '' });
    expect(await policy('plan', file)).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(secrets, 'utf8'))).toMatchObject({
      ...{ url: 'https://hooks.acme.example/c', secret: expect.stringMatching(/^whsec_/) },
    });
    const columns = (await ana.boardColumns.list({ projectId: 'WEB' })).items;
    const wanted = (parse(await readFile(file, 'utf8')) as Document).projects.WEB.columns;
    expect(columns.map(({ name }) => name)).toEqual(wanted.map(({ name }) => name));
    expect(columns.find(({ name }) => name === 'Design')).toMatchObject({ status: 'ready', wipLimit: 2 });
    expect((await ana.prompts.org.list({})).items).toHaveLength(2);

    const pruned = await policy('plan', file, '--prune', '--json');
    expect(pruned.code).toBe(2);
    const { changes } = JSON.parse(pruned.out) as { changes: { action: string; subject: string }[] };
    expect(changes.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
      'delete prompt review',
      'delete budget of org per month',
    ]);
    expect(await policy('apply', file, '--prune')).toMatchObject({ code: 0 });
    expect(await policy('plan', file, '--prune')).toMatchObject({ code: 0, out: 'Nothing to change.\n' });
    expect((await ana.prompts.org.list({})).items.map(({ slug }) => slug)).toEqual(['plan']);
  });

  it('applies a saved plan, and refuses it once someone changed something that it concerns', async () => {
    const file = await pullPolicyFile((rules) => Object.assign(rules.policy, { requiredApprovals: 2 }));
    const saved = fileAt('plan.json');
    expect((await policy('plan', file, '--out', saved)).code).toBe(2);
    await ana.policy.update({ requiredApprovals: 5 });
    expect(await policy('apply', file, '--plan', saved)).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('differ from the saved plan') },
    });
    expect((await ana.policy.get({})).policy.requiredApprovals).toBe(5);
    await policy('plan', file, '--out', saved);
    expect(await policy('apply', file, '--plan', saved)).toMatchObject({ code: 0 });
    expect((await ana.policy.get({})).policy.requiredApprovals).toBe(2);
  });

  it('overwrites nothing that someone changes between its comparison and its write', async () => {
    const name = await pullPolicyFile((rules) => {
      Object.assign(rules.policy, { requiredApprovals: 2 });
      Object.assign(rules.prompts[0] ?? {}, { title: 'Review it' });
      Object.assign(rules.webhooks[0] ?? {}, { kinds: ['audit.denied'] });
      Object.assign(rules.projects.WEB.columns[0] ?? {}, { wipLimit: 9 });
    });
    const file = parsePolicyFile(name, await readFile(name, 'utf8'));
    const { changes } = comparePolicy(file, await readLiveRules(ana, file), false);
    expect(changes).toHaveLength(4);
    await ana.policy.update({ closeParents: true });
    await ana.prompts.org.upsert({ slug: 'review', title: 'Look', body: 'Look.' });
    const [webhook] = (await ana.webhooks.list({})).items;
    await ana.webhooks.update({ webhookId: webhook?.id ?? '', description: 'Mine' });
    const [column] = (await ana.boardColumns.list({ projectId: 'WEB' })).items;
    await ana.boardColumns.update({ columnId: column?.id ?? '', wipLimit: 4 });
    for (const change of changes)
      await expect(applyChanges(ana, [change], async () => undefined)).rejects.toMatchObject({
        ...{ status: 409, reason: 'version_mismatch' },
      });
    expect((await ana.boardColumns.list({ projectId: 'WEB' })).items[0]?.wipLimit).toBe(4);
  });

  it('exits with 1 for a file that it does not understand, and changes nothing', async () => {
    const file = await pullPolicyFile((rules) => Object.assign(rules.policy, { aprovals: 2 }));
    for (const command of ['plan', 'apply'])
      expect(await policy(command, file)).toMatchObject({
        ...{
          code: 1,
          err: expect.stringMatching(/policy\.yaml:\d+:3: policy\.aprovals is not a known field/),
        },
      });
    const status = await pullPolicyFile((rules) => {
      Object.assign(rules.projects.WEB.columns[0] ?? {}, { status: 'done' });
    });
    expect(await policy('plan', status)).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('The status of a column cannot be changed') },
    });
    await writeFile(file, 'projects: { NOPE: {} }\n');
    expect(await policy('plan', file)).toMatchObject({ code: 1 });
    expect((await policy('plan', fileAt('missing.yaml'))).code).toBe(1);
  });

  it('is for admins', async () => {
    const file = await pullPolicyFile((rules) => Object.assign(rules.policy, { requiredApprovals: 2 }));
    expect(await muster.runAs(people.chloe, 'policy', 'apply', file)).toMatchObject({ code: 3 });
  });
});
